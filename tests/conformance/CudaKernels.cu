// The pointwise loops of tests, for devices.
#include "tests/conformance/CudaModule.h"
#include "tests/conformance/PointwiseLoops.h"

namespace syncline::conformance {

namespace {

template <typename Loop> __global__ void loopKernel(LoopOperands operands, std::int64_t n) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
    Loop::at(operands, i);
}

/// Launches as generated code does: operands by value, on the backend's queue.
template <typename Loop>
void launchRounded(void *const *outs, const void *const *ins, std::int64_t n, std::uint64_t rounded,
                   void *queue) {
  loopKernel<Loop>
      <<<64, 128, 0, static_cast<cudaStream_t>(queue)>>>(operandsOf<Loop>(outs, ins, rounded), n);
}

template <typename Loop>
void launch(void *const *outs, const void *const *ins, std::int64_t n, void *queue) {
  launchRounded<Loop>(outs, ins, n, 0, queue);
}

template <typename Loop> FlatLoop formed() {
  return {launch<Loop>, launchRounded<Loop>, Loop::form, Loop::gate};
}

void scaleChannels(void *const *outs, const void *const *ins, std::int64_t, void *queue) {
  launch<ScaleChannels>(outs, ins, ScaleChannels::count, queue);
}

} // namespace

PointwiseKernels cudaKernels() {
  return {{launch<AddRelu>, launchRounded<AddRelu>},
          {launch<AddOne>, launchRounded<AddOne>},
          {launch<Twice>, launchRounded<Twice>},
          scaleChannels,
          formed<Sum<false>>(),
          formed<Sum<true>>(),
          formed<ReluGradient<1>>(),
          formed<ReluGradient<2>>()};
}

} // namespace syncline::conformance
