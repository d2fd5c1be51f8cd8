// Writing a step's tensors.
#include "runtime/run/Dump.h"

#include "runtime/core/HalfFloat.h"
#include "runtime/data/Npy.h"
#include "runtime/run/checkpoint/Sha256.h"

#include <cstring>
#include <filesystem>
#include <vector>

namespace syncline::run {
namespace {

template <typename T, typename F> void scaleEach(std::vector<std::byte> &bytes, F &&f) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, &bytes[at], sizeof(T));
    value = f(value);
    std::memcpy(&bytes[at], &value, sizeof(T));
  }
}

void divide(std::vector<std::byte> &bytes, ElementType type, double by) {
  auto scale = static_cast<float>(1.0 / by);
  switch (type) {
  case ElementType::f32:
    return scaleEach<float>(bytes, [&](float v) { return v * scale; });
  case ElementType::f64:
    return scaleEach<double>(bytes, [&](double v) { return v / by; });
  case ElementType::f16:
    return scaleEach<std::uint16_t>(
        bytes, [&](std::uint16_t v) { return core::f16FromFloat(core::floatFromF16(v) * scale); });
  case ElementType::bf16:
    return scaleEach<std::uint16_t>(bytes, [&](std::uint16_t v) {
      return core::bf16FromFloat(core::floatFromBf16(v) * scale);
    });
  case ElementType::i64:
  case ElementType::i32:
  case ElementType::u8:
    return; // the step has no gradients
  }
}

const char *folderOf(Space space) {
  switch (space) {
  case Space::gradients:
    return "gradients";
  case Space::parameters:
    return "parameters";
  case Space::state:
    return "state";
  case Space::input:
  case Space::target:
  case Space::arena:
    return nullptr;
  }
  return nullptr;
}

Status dumpTensor(const std::string &folder, core::TensorStore &store, int index, double divisor) {
  const core::StepTensor &t = store.tensors()[index];
  const char *kind = folderOf(t.space);
  if (!kind)
    return Status::ok();
  std::vector<std::byte> values(core::elementCount(t.shape) * core::elementBytes(t.type));
  SYNCLINE_TRY(store.read(index, values));
  if (t.space == Space::gradients)
    divide(values, t.type, divisor);
  return data::writeNpy(folder + "/" + kind + "/" + escapeName(t.name) + ".npy", t.type, t.shape,
                        values.data());
}

} // namespace

std::string escapeName(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    auto c = static_cast<unsigned char>(name[i]);
    if (c == '/' || c == '%' || c < 32 || (c == '.' && i == 0)) {
      out += '%';
      out += "0123456789ABCDEF"[c >> 4];
      out += "0123456789ABCDEF"[c & 15];
    } else {
      out += name[i];
    }
  }
  // A file name has at most 255 bytes, including the ending and the suffix of the temporary file.
  constexpr std::size_t longest = 200, kept = 180;
  if (out.size() <= longest)
    return out;
  std::size_t end = kept;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80)
    --end; // do not cut a UTF-8 character
  return out.substr(0, end) + "~" + sha256(name).substr(0, 16);
}

Status dumpStep(const std::string &folder, std::int64_t step, double loss, core::TensorStore &store,
                double divisor) {
  std::string here = folder + "/step" + std::to_string(step);
  std::error_code error;
  for (const char *kind : {"gradients", "parameters", "state"})
    if (std::filesystem::create_directories(here + "/" + kind, error); error)
      return Status::badInput("'" + here + "': cannot create: " + error.message());
  SYNCLINE_TRY(data::writeNpy(here + "/loss.npy", ElementType::f64, {}, &loss));
  for (std::size_t i = 0; i < store.tensors().size(); ++i)
    SYNCLINE_TRY(dumpTensor(here, store, static_cast<int>(i), divisor));
  return Status::ok();
}

} // namespace syncline::run
