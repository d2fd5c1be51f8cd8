// Describing the measuring step to the backend, and running it.
#include "runtime/calibrate/Device.h"

#include <algorithm>
#include <array>

namespace syncline::calibrate {
namespace {

void add(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  auto *__restrict y = static_cast<float *>(outs[0]);
  const auto *a = static_cast<const float *>(ins[0]), *b = static_cast<const float *>(ins[1]);
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = a[i] + b[i];
}

/// Sizes of operands, in elements.
struct Work {
  std::int64_t matrix;                  ///< rows and columns of a square matrix
  std::int64_t batch, channels, extent; ///< of a convolution's input
  std::int64_t stream;                  ///< elements of a tensor larger than caches

  std::int64_t image() const { return batch * channels * extent * extent; }
};

/// Sizes by amount of work. The last has tensors of 256 MiB, because the fastest GPUs have caches
/// of 50 MiB and more.
constexpr std::array<Work, Device::maxWork + 1> works{{{128, 1, 16, 28, 1 << 18},
                                                       {512, 4, 64, 56, 4 << 20},
                                                       {2048, 32, 64, 56, 16 << 20},
                                                       {4096, 128, 64, 56, 64 << 20}}};

constexpr std::int64_t alignment = 256; ///< of the bytes for messages

std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Declares tensors one behind the other in their spaces.
class Step {
public:
  Step(core::Executable &executable, const Work &work, bool hasLoops)
      : builder(executable.builder()), work(work), hasLoops(hasLoops) {}

  Tensor declare(Space space, const Shape &shape) {
    const std::int64_t bytes = core::elementCount(shape) * core::elementBytes(ElementType::f32);
    std::int64_t &used = this->used[static_cast<int>(space)];
    const std::string name = "t" + std::to_string(count++);
    const Tensor tensor = builder.tensor({name, space, ElementType::f32, shape, used, bytes});
    used += aligned(bytes);
    return tensor;
  }
  Tensor constant(const Shape &shape) { return declare(Space::state, shape); }
  Tensor arena(const Shape &shape) { return declare(Space::arena, shape); }
  Kernel kernel(std::string name, double flops, double bytes) {
    return {std::move(name), operations++, flops, bytes};
  }

  StepBuilder &builder;
  const Work &work;
  /// Whether generated loops are functions of the host, as add() is.
  const bool hasLoops;

private:
  std::array<std::int64_t, core::spaceCount> used{};
  int count = 0, operations = 0;
};

/// Appends the measured convolutions after another one, whose result has the layout that
/// convolutions prefer.
std::vector<Kernel> convolutions(Step &step) {
  const Work &work = step.work;
  const Shape image{work.batch, work.channels, work.extent, work.extent};
  const Shape weights{work.channels, work.channels, 3, 3};
  const Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const Tensor x = step.arena(image), y = step.arena(image), dx = step.arena(image);
  const Tensor w = step.declare(Space::parameters, weights);
  const Tensor dw = step.declare(Space::gradients, weights);
  const auto elements = static_cast<double>(work.image());
  const double flops = 2.0 * elements * static_cast<double>(work.channels) * 9;
  const double bytes = 4.0 * (2 * elements + static_cast<double>(core::elementCount(weights)));
  step.builder.conv("conv", step.constant(image), w, none, x, window);
  step.kernel("not measured", flops, bytes);
  step.builder.conv("conv", x, w, none, y, window);
  std::vector<Kernel> kernels{step.kernel("3x3 convolution", flops, bytes)};
  step.builder.convBackwardData("conv", y, w, dx, window);
  kernels.push_back(step.kernel("3x3 convolution, backward data", flops, bytes));
  step.builder.convBackwardWeights("conv", x, y, dw, none, window);
  kernels.push_back(step.kernel("3x3 convolution, backward weights", flops, bytes));
  return kernels;
}

Kernel product(Step &step) {
  const std::int64_t n = step.work.matrix;
  const Tensor a = step.constant({n, n}), b = step.constant({n, n}), y = step.arena({n, n});
  step.builder.matmul("matmul", a, false, b, true, none, y);
  const double elements = static_cast<double>(n) * static_cast<double>(n);
  return step.kernel("product of matrices", 2 * elements * static_cast<double>(n),
                     3 * 4.0 * elements);
}

Kernel sum(Step &step, std::int64_t n, const std::string &name) {
  const std::array ins{step.constant({n}), step.constant({n})}, outs{step.arena({n}), none};
  step.builder.pointwise("sum", add, ins, std::span(outs).first(1),
                         {.flat = true, .keepsZero = true});
  return step.kernel(name, static_cast<double>(n), 3 * 4.0 * static_cast<double>(n));
}

Kernel stream(Step &step) {
  const std::int64_t n = step.work.stream;
  if (step.hasLoops)
    return sum(step, n, "sum of two tensors");
  step.builder.reshape("copy", step.constant({n}), step.arena({n}));
  return step.kernel("copy of a tensor", 0, 2 * 4.0 * static_cast<double>(n));
}

Kernel smallestOf(Step &step) {
  if (step.hasLoops)
    return sum(step, 16, "sum of 16 numbers");
  // The operation is a transpose, because a plain copy need not be a kernel.
  step.builder.transpose("copy", step.constant({4, 4}), step.arena({4, 4}), {1, 0});
  return step.kernel("transpose of 16 numbers", 0, 2 * 4.0 * 16);
}

/// Declares the only bucket that is updated. It comes before all other parameters, so that the
/// space begins with it.
void declareStream(Step &step) {
  step.declare(Space::parameters, {step.work.stream});
  step.declare(Space::gradients, {step.work.stream});
  step.builder.bucket({0, 0, "ring", 0, 4 * step.work.stream});
}

Kernel update(Step &step) {
  const auto elements = static_cast<double>(step.work.stream);
  step.builder.update(0);
  return step.kernel("SGD with momentum", 4 * elements, 5 * 4.0 * elements);
}

/// Writes all memory once. Memory that was never written is a single page of zeros, which stays in
/// the first-level cache.
Status touch(core::Executable &executable) {
  std::int64_t longest = 0;
  for (const core::StepTensor &tensor : executable.tensors())
    longest = std::max(longest, core::elementCount(tensor.shape));
  const std::vector<float> values(static_cast<std::size_t>(longest), 1e-3f);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  int id = 0;
  for (const core::StepTensor &tensor : executable.tensors()) {
    const auto dense = static_cast<std::size_t>(core::elementCount(tensor.shape)) * sizeof(float);
    SYNCLINE_TRY(executable.write(id++, bytes.first(dense)));
  }
  return Status::ok();
}

/// Bytes of the step's own parameters; the bytes for messages follow them.
std::int64_t parameterBytes(const Work &work) {
  return aligned(4 * work.stream) + aligned(4 * work.channels * work.channels * 9);
}

core::SpaceSizes sizesOf(const Work &work, std::int64_t messageBytes) {
  constexpr std::int64_t few = 1 << 16; ///< bytes for alignment and the smallest operands
  core::SpaceSizes sizes;
  sizes.parameters = sizes.gradients = parameterBytes(work) + aligned(messageBytes);
  sizes.state = 4 * (2 * work.stream + work.image() + 2 * work.matrix * work.matrix) + few;
  sizes.arena = 4 * (work.stream + 3 * work.image() + work.matrix * work.matrix) + few;
  return sizes;
}

} // namespace

Result<std::unique_ptr<Device>> Device::create(const core::Backend &backend,
                                               const DeviceOptions &options, int work) {
  const Work &chosen = works[static_cast<std::size_t>(work)];
  core::ExecutableOptions how = options.how;
  how.sizes = sizesOf(chosen, options.messageBytes);
  SYNCLINE_TRY_GET(made, backend.createExecutable(how));
  std::unique_ptr<Device> device(new Device);
  device->executable = std::move(*made);
  device->roomBegin = parameterBytes(chosen);
  core::Executable &executable = *device->executable;
  Step step(executable, chosen, backend.name() == "cpu");
  step.builder.phase("forward");
  declareStream(step);
  device->computing = convolutions(step);
  device->computing.push_back(product(step));
  device->streaming.push_back(stream(step));
  device->small = smallestOf(step);
  step.builder.phase("update");
  device->streaming.push_back(update(step));
  for (const core::Bucket &b : options.messages)
    step.builder.bucket(
        {b.id, b.channel, schemeName(b.scheme), device->roomBegin + b.offset, b.extent});
  SYNCLINE_TRY(executable.finish());
  for (const core::Bucket &b : options.messages)
    if (b.scheme == Scheme::reduceScatter)
      SYNCLINE_TRY(executable.takeShard(b.id, 0, 0));
  SYNCLINE_TRY(executable.setOptimizer({.momentum = 0.9}));
  SYNCLINE_TRY(touch(executable));
  return device;
}

Status Device::run(const Kernel &kernel, int runs) {
  for (int run = 0; run < runs; ++run)
    SYNCLINE_TRY(executable->run(kernel.operation));
  return Status::ok();
}

Status Device::runAll(int passes, int place) {
  SYNCLINE_TRY(mark(place));
  for (const std::vector<Kernel> *kernels : {&computing, &streaming}) {
    for (int pass = 0; pass < passes; ++pass)
      for (const Kernel &kernel : *kernels)
        SYNCLINE_TRY(run(kernel));
    SYNCLINE_TRY(mark(++place));
  }
  return Status::ok();
}

Status Device::begin() {
  executable->beginStep(++number);
  return mark(0);
}

Result<std::vector<double>> Device::marks() {
  Status s = executable->synchronize();
  return s ? executable->marks() : s;
}

Result<double> Device::time(const std::function<Status()> &work) {
  SYNCLINE_TRY(begin());
  // Place 0 is not used, because beginning the step may enqueue other work.
  SYNCLINE_TRY(mark(1));
  SYNCLINE_TRY(work());
  SYNCLINE_TRY(mark(2));
  const auto seconds = marks();
  return seconds ? Result<double>((*seconds)[2] - (*seconds)[1]) : seconds.status();
}

std::byte *Device::room(Space space) {
  return static_cast<std::byte *>(executable->space(space).data) + roomBegin;
}

} // namespace syncline::calibrate
