// Describing the step to the backend.
#include "runtime/calibrate/Device.h"

#include "runtime/cpu/CpuBackend.h"

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

constexpr std::int64_t streamElements = 4 << 20; ///< 16 MiB a tensor
constexpr std::int64_t batch = 4, channels = 64, extent = 56;
constexpr std::int64_t matrix = 512;

/// Tensors one behind the other in their spaces.
class Step {
public:
  explicit Step(StepBuilder &builder) : builder(builder) {}

  Tensor declare(Space space, const Shape &shape) {
    const std::int64_t bytes = elementCount(shape) * elementBytes(ElementType::f32);
    std::int64_t &used = this->used[static_cast<int>(space)];
    const std::string name = "t" + std::to_string(count++);
    const Tensor tensor = builder.tensor({name, space, ElementType::f32, shape, used, bytes});
    used += (bytes + 63) / 64 * 64;
    return tensor;
  }
  Tensor constant(const Shape &shape) { return declare(Space::state, shape); }
  Tensor arena(const Shape &shape) { return declare(Space::arena, shape); }
  Kernel kernel(std::string name, double flops, double bytes) {
    return {std::move(name), operations++, flops, bytes};
  }

  StepBuilder &builder;

private:
  std::array<std::int64_t, spaceCount> used{};
  int count = 0, operations = 0;
};

/// Behind another convolution, whose result has the layout that convolutions like.
std::vector<Kernel> convolutions(Step &step) {
  const Shape image{batch, channels, extent, extent}, weights{channels, channels, 3, 3};
  const Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const Tensor x = step.arena(image), y = step.arena(image), dx = step.arena(image);
  const Tensor w = step.declare(Space::parameters, weights);
  const Tensor dw = step.declare(Space::gradients, weights);
  const double flops = 2.0 * batch * channels * channels * extent * extent * 9;
  const double bytes = 4.0 * (2 * elementCount(image) + elementCount(weights));
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

Kernel product(Step &step, std::int64_t n, const std::string &name) {
  const Tensor a = step.constant({n, n}), b = step.constant({n, n}), y = step.arena({n, n});
  step.builder.matmul("matmul", a, false, b, true, none, y);
  return step.kernel(name, 2.0 * n * n * n, 3 * 4.0 * n * n);
}

Kernel sum(Step &step, std::int64_t n, const std::string &name) {
  const std::array ins{step.constant({n}), step.constant({n})}, outs{step.arena({n}), none};
  step.builder.pointwise("sum", add, ins, std::span(outs).first(1),
                         {.flat = true, .keepsZero = true});
  return step.kernel(name, static_cast<double>(n), 3 * 4.0 * n);
}

/// The only bucket's; before any other parameter, so that it begins the space.
void declareStream(Step &step) {
  step.declare(Space::parameters, {streamElements});
  step.declare(Space::gradients, {streamElements});
  step.builder.bucket({0, 0, "ring", 0, 4 * streamElements, 0, 0});
}

Kernel update(Step &step) {
  step.builder.update(0);
  return step.kernel("SGD with momentum", 4.0 * streamElements, 5 * 4.0 * streamElements);
}

/// Memory that was never written is one page of zeros, which stays in the first cache.
void touch(Executable &executable) {
  for (int space = 0; space < spaceCount; ++space) {
    const Interval interval = executable.space(static_cast<Space>(space));
    auto *values = static_cast<float *>(interval.data);
    std::fill(values, values + interval.bytes / sizeof(float), 1e-3f);
  }
}

} // namespace

Result<std::unique_ptr<Device>> Device::create(int threads) {
  ExecutableOptions options;
  options.threads = threads;
  constexpr std::int64_t others = 16 << 20; ///< more than all but the streams need
  options.sizes.parameters = options.sizes.gradients = 4 * streamElements + others;
  options.sizes.state = 2 * 4 * streamElements + others;
  options.sizes.arena = 4 * streamElements + others;
  auto made = cpu::createCpuExecutable(options);
  if (!made)
    return made.status();
  std::unique_ptr<Device> device(new Device);
  device->executable = std::move(*made);
  Step step(device->executable->builder());
  step.builder.phase("forward");
  declareStream(step);
  device->computing = convolutions(step);
  device->computing.push_back(product(step, matrix, "product of matrices"));
  device->streaming.push_back(sum(step, streamElements, "sum of two tensors"));
  device->small = sum(step, 16, "sum of 16 numbers");
  step.builder.phase("update");
  device->streaming.push_back(update(step));
  if (Status s = device->executable->finish(); !s)
    return s;
  if (Status s = device->executable->setOptimizer({.momentum = 0.9}); !s)
    return s;
  touch(*device->executable);
  return device;
}

} // namespace syncline::calibrate
