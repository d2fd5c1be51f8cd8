// Builds and runs one-operation steps on a backend.
#include "tests/conformance/StepCase.h"

#include <algorithm>
#include <cstring>

namespace syncline::conformance {

using namespace core;

StepCase::StepCase(const Backend &backend, Form form, int ranks, int threads, int rank)
    : form(form), allowed(backend.rounding) {
  ExecutableOptions options;
  constexpr std::int64_t room = 64 << 20;
  options.sizes = {room, room, room, room, room, room};
  options.seed = 7;
  options.rank = rank;
  options.ranks = ranks;
  options.threads = threads;
  auto created = backend.create(options);
  if (!created)
    ADD_FAILURE() << created.status().message();
  executable = std::move(*created);
}

Tensor StepCase::declare(const std::string &name, Space space, ElementType type, const Shape &shape,
                         bool isRounded) {
  Shape padded = shape;
  if (shape.size() >= 3 && space == Space::arena)
    padded[1] = (padded[1] + 15) / 16 * 16;
  const ElementType stored = isRounded ? ElementType::bf16 : type;
  const std::int64_t bytes = elementCount(padded) * elementBytes(stored);
  const Tensor tensor = step().tensor({name, space, type, shape, used[space], bytes, isRounded});
  used[space] += (bytes + 63) / 64 * 64;
  return tensor;
}

Tensor StepCase::plainOperand(const Array &values, ElementType type) {
  const Tensor tensor = declare("in" + std::to_string(names++), Space::input, type, values.shape);
  initial[tensor.id] = values;
  return tensor;
}

Tensor StepCase::operand(const Array &values) {
  const Tensor plain = plainOperand(values);
  const std::size_t rank = values.shape.size();
  if (form == Form::plain || rank < 3 || rank > 5)
    return plain;
  const std::int64_t channels = values.shape[1];
  Shape kernel(rank, 1);
  kernel[0] = kernel[1] = channels;
  Array identity(kernel);
  for (std::int64_t c = 0; c < channels; ++c)
    identity.values[static_cast<std::size_t>(c * channels + c)] = 1;
  const Shape ones(rank - 2, 1), zeros(rank - 2, 0);
  const Tensor passed = result(values.shape);
  step().conv("identity", plain, state("identity" + std::to_string(names++), identity), none,
              passed, {{}, ones, ones, zeros, zeros});
  return passed;
}

std::pair<Tensor, Tensor> StepCase::parameter(const std::string &name, const Array &values) {
  const Tensor value = declare(name, Space::parameters, ElementType::f32, values.shape);
  const Tensor gradient = declare(name, Space::gradients, ElementType::f32, values.shape);
  initial[value.id] = values;
  return {value, gradient};
}

Tensor StepCase::state(const std::string &name, const Array &values) {
  const Tensor tensor = declare(name, Space::state, ElementType::f32, values.shape);
  initial[tensor.id] = values;
  return tensor;
}

Tensor StepCase::result(Shape shape, ElementType type) {
  return declare("out" + std::to_string(names++), Space::arena, type, shape);
}

Tensor StepCase::rounded(Shape shape) {
  return declare("out" + std::to_string(names++), Space::arena, ElementType::f32, shape,
                 /*isRounded=*/true);
}

std::string StepCase::failure() {
  const Status status = executable->finish();
  return status.isOk() ? "" : status.message();
}

namespace {

template <typename T> std::vector<std::byte> encode(const Array &values) {
  std::vector<std::byte> bytes(values.values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.values.size(); ++i) {
    const T element = static_cast<T>(values.values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

template <typename T> Array decode(const std::vector<std::byte> &bytes, const Shape &shape) {
  Array array(shape);
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    array.values[i] = static_cast<double>(element);
  }
  return array;
}

} // namespace

void StepCase::run() {
  begin();
  if (!testing::Test::HasFatalFailure())
    runOperations(0, static_cast<int>(executable->operations().size()));
}

void StepCase::begin() {
  const Status finished = executable->finish();
  ASSERT_TRUE(finished.isOk()) << finished.message();
  for (const auto &[id, values] : initial) {
    const auto bytes = executable->tensors()[id].type == ElementType::i64
                           ? encode<std::int64_t>(values)
                           : encode<float>(values);
    const Status written = executable->write(id, bytes);
    ASSERT_TRUE(written.isOk()) << written.message();
  }
  executable->beginStep(0);
}

void StepCase::runOperations(int first, int last) {
  for (int i = first; i < last; ++i) {
    const Status ran = executable->run(i);
    ASSERT_TRUE(ran.isOk()) << ran.message();
  }
  ASSERT_TRUE(executable->synchronize().isOk());
}

Array StepCase::values(Tensor tensor) {
  if (!tensor.isValid()) {
    ADD_FAILURE() << failure();
    return Array({0});
  }
  const StepTensor &info = executable->tensors()[tensor.id];
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(elementCount(info.shape) * elementBytes(info.type)));
  const Status read = executable->read(tensor.id, bytes);
  EXPECT_TRUE(read.isOk()) << read.message();
  return info.type == ElementType::u8 ? decode<std::uint8_t>(bytes, info.shape)
                                      : decode<float>(bytes, info.shape);
}

int StepCase::reorders(const std::string &operation) {
  int count = 0;
  for (const OperationInfo &info : executable->operations())
    if (operation.empty() || info.name == operation)
      count += info.reorders;
  return count;
}

void expectNear(StepCase &run, Tensor tensor, const Array &expected, double tolerance) {
  const Array actual = run.values(tensor);
  ASSERT_EQ(actual.shape, expected.shape);
  EXPECT_LE(relativeError(actual, expected), std::max(tolerance, run.rounding()));
}

} // namespace syncline::conformance
