// Copying values to and from a prepared step.
#include "runtime/run/weights/Values.h"

#include "runtime/core/HalfFloat.h"
#include "runtime/data/RandomStream.h"
#include "runtime/run/Diagnosis.h"
#include "runtime/run/weights/OnnxRecord.h"
#include "runtime/run/weights/OnnxValues.h"
#include "syncline/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace syncline::run {

using core::TensorStore;

namespace {

std::size_t denseBytes(const PlanTensor &t) {
  return static_cast<std::size_t>(core::elementCount(t.shape) * core::elementBytes(t.type));
}

/// The value of element i by the tensor's init rule.
double valueAt(const TensorInit &init, const data::RandomStream &random, std::int64_t i) {
  switch (init.kind) {
  case TensorInit::Kind::constant:
    return init.first;
  case TensorInit::Kind::normal:
    return init.first + init.second * random.normal(i);
  case TensorInit::Kind::uniform:
    return init.first + (init.second - init.first) * random.uniform(i);
  case TensorInit::Kind::values:
    return init.values[i];
  }
  return 0;
}

template <typename T>
std::vector<std::byte> drawn(const PlanTensor &tensor, std::uint64_t seed, T (*convert)(double)) {
  data::RandomStream random(seed, tensor.name);
  std::vector<std::byte> bytes(denseBytes(tensor));
  for (std::int64_t i = 0; i < core::elementCount(tensor.shape); ++i) {
    T element = convert(valueAt(tensor.init, random, i));
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

std::vector<std::byte> draw(const PlanTensor &t, std::uint64_t seed) {
  switch (t.type) {
  case ElementType::f32:
    return drawn<float>(t, seed, [](double v) { return static_cast<float>(v); });
  case ElementType::f64:
    return drawn<double>(t, seed, [](double v) { return v; });
  case ElementType::f16:
    return drawn<std::uint16_t>(t, seed,
                                [](double v) { return core::f16FromFloat(static_cast<float>(v)); });
  case ElementType::bf16:
    return drawn<std::uint16_t>(
        t, seed, [](double v) { return core::bf16FromFloat(static_cast<float>(v)); });
  case ElementType::i64:
    return drawn<std::int64_t>(t, seed, [](double v) { return static_cast<std::int64_t>(v); });
  case ElementType::i32:
    return drawn<std::int32_t>(t, seed, [](double v) { return static_cast<std::int32_t>(v); });
  case ElementType::u8:
    return drawn<std::uint8_t>(t, seed, [](double v) { return static_cast<std::uint8_t>(v); });
  }
  return {};
}

int findIn(const TensorStore &store, const PlanTensor &t) {
  return store.find(t.kind == PlanTensor::Kind::parameter ? Space::parameters : Space::state,
                    t.name);
}

/// The tensor's present values. A state that no operation uses has its initial values.
Result<std::vector<std::byte>> presentValues(const Plan &plan, TensorStore &store,
                                             const PlanTensor &t, std::uint64_t seed) {
  int index = findIn(store, t);
  if (index < 0)
    return initialValues(plan, t, seed);
  std::vector<std::byte> values(denseBytes(t));
  SYNCLINE_TRY(store.read(index, values));
  return values;
}

Status writeModel(const Plan &plan, TensorStore &store, std::uint64_t seed, bool allowsNonFinite,
                  std::ostream &out) {
  SYNCLINE_TRY_GET(head, readSkeleton(plan));
  out << *head;
  std::uint64_t bytes = head->size(); // counted here, because a pipe has no position
  for (const PlanTensor &t : plan.tensors) {
    if (t.kind == PlanTensor::Kind::constant)
      continue;
    SYNCLINE_TRY_GET(values, presentValues(plan, store, t, seed));
    if (const auto at = firstNotFinite(t.type, *values); at && !allowsNonFinite)
      return Status::badInput("'" + t.name + "', element " + std::to_string(*at) +
                              ", is not finite: the model is not saved; '--allow-nonfinite' saves "
                              "it all the same");
    const std::string record = onnxRecordHead(t.name, t.type, t.shape, values->size());
    out << record;
    out.write(reinterpret_cast<const char *>(values->data()),
              static_cast<std::streamsize>(values->size()));
    bytes += record.size() + values->size();
  }
  if (out && bytes > largestOnnxBytes)
    return Status::badInput("the trained model is larger than the 2 GiB of an ONNX file");
  return Status::ok();
}

} // namespace

Result<std::string> readSkeleton(const Plan &plan) {
  const std::string path = plan.file("model.onnx");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status::badInput("'" + path + "': cannot open: " + std::strerror(errno));
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!isOnnxModel(bytes))
    return Status::badInput("'" + path +
                            "': expected an ONNX model, into which '--save' writes "
                            "what is trained");
  return bytes;
}

Result<std::vector<std::byte>> initialValues(const Plan &plan, const PlanTensor &tensor,
                                             std::uint64_t seed) {
  if (!tensor.offset)
    return draw(tensor, seed);
  std::string path = plan.file("weights.bin");
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes(denseBytes(tensor));
  in.seekg(*tensor.offset);
  in.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in)
    return Status::badInput("'" + path + "': no values of '" + tensor.name + "' at byte " +
                            std::to_string(*tensor.offset));
  return bytes;
}

Status initialize(const Plan &plan, TensorStore &store, std::uint64_t seed) {
  for (const PlanTensor &t : plan.tensors) {
    int index = findIn(store, t);
    if (index < 0)
      continue;
    SYNCLINE_TRY_GET(values, initialValues(plan, t, seed));
    SYNCLINE_TRY(store.write(index, *values));
  }
  return Status::ok();
}

Status loadOnnx(const Plan &plan, TensorStore &store, const std::string &path) {
  SYNCLINE_TRY_GET(values, OnnxValues::read(path));
  for (const PlanTensor &t : plan.tensors) {
    const int index = findIn(store, t);
    if (t.kind == PlanTensor::Kind::constant || index < 0)
      continue;
    std::vector<std::byte> dense(denseBytes(t));
    SYNCLINE_TRY(values->copy(t.name, t.type, t.shape, dense));
    SYNCLINE_TRY(store.write(index, dense));
  }
  return Status::ok();
}

Status saveOnnx(const Plan &plan, TensorStore &store, std::uint64_t seed, const std::string &path,
                bool allowsNonFinite) {
  return writeWholeFile(
      path, [&](std::ostream &out) { return writeModel(plan, store, seed, allowsNonFinite, out); });
}

} // namespace syncline::run
