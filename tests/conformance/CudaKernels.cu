// The pointwise loops of tests, for devices.
#include "tests/conformance/CudaModule.h"
#include "tests/conformance/PointwiseLoops.h"

namespace syncline::conformance {

namespace {

template <typename Loop, std::size_t outCount, std::size_t inCount> struct Operands {
  void *outs[outCount];
  const void *ins[inCount];
};

template <typename Loop, std::size_t outCount, std::size_t inCount>
__global__ void loopKernel(Operands<Loop, outCount, inCount> operands, std::int64_t n) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads)
    Loop::at(operands.outs, operands.ins, i);
}

/// As generated code does: operands by value, on the backend's queue.
template <typename Loop, std::size_t outCount, std::size_t inCount>
void launch(void *const *outs, const void *const *ins, std::int64_t n, void *queue) {
  Operands<Loop, outCount, inCount> operands;
  for (std::size_t i = 0; i < outCount; ++i)
    operands.outs[i] = outs[i];
  for (std::size_t i = 0; i < inCount; ++i)
    operands.ins[i] = ins[i];
  loopKernel<<<64, 128, 0, static_cast<cudaStream_t>(queue)>>>(operands, n);
}

void scaleChannels(void *const *outs, const void *const *ins, std::int64_t, void *queue) {
  launch<ScaleChannels, 1, 2>(outs, ins, ScaleChannels::count, queue);
}

} // namespace

PointwiseKernels cudaKernels() {
  return {launch<AddRelu, 2, 2>, launch<AddOne, 1, 1>, launch<Twice, 1, 1>, scaleChannels};
}

} // namespace syncline::conformance
