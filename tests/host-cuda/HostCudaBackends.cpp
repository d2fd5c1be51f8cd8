// The backend under test: CUDA's, over the host's libraries in this folder.
#include "tests/conformance/PointwiseLoops.h"
#include "tests/host-cuda/HostKernels.h"
#include "tests/host-cuda/cuda_runtime.h"

#include "runtime/cuda/CudaExecutable.h"

#include <gtest/gtest.h>

namespace syncline::conformance {

namespace {

template <Precision precision>
Result<std::unique_ptr<Executable>> create(const ExecutableOptions &given) {
  ExecutableOptions options = given;
  options.precision = precision;
  return std::unique_ptr<Executable>(std::make_unique<cuda::CudaExecutable>(options));
}

constexpr std::size_t mostOperands = 2;
struct Operands {
  void *outs[mostOperands];
  const void *ins[mostOperands];
};

template <typename Loop> void loopKernel(Operands operands, std::int64_t n) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
    Loop::at(operands.outs, operands.ins, i);
}

/// As generated code does: operands by value, on the backend's queue.
template <typename Loop, std::size_t outCount, std::size_t inCount>
void launch(void *const *outs, const void *const *ins, std::int64_t n, void *queue) {
  Operands operands{};
  std::copy_n(outs, outCount, operands.outs);
  std::copy_n(ins, inCount, operands.ins);
  void *arguments[] = {&operands, &n};
  cudaLaunchKernel(loopKernel<Loop>, dim3(4), dim3(128), arguments, 0,
                   static_cast<cudaStream_t>(queue));
}

void scaleChannels(void *const *outs, const void *const *ins, std::int64_t, void *queue) {
  launch<ScaleChannels, 1, 2>(outs, ins, ScaleChannels::count, queue);
}

} // namespace

PointwiseKernels streamKernels() {
  return {launch<AddRelu, 2, 2>, launch<AddOne, 1, 1>, launch<Twice, 1, 1>, scaleChannels};
}

void streamCopy(void *to, const void *from, std::size_t bytes) {
  EXPECT_EQ(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), cudaSuccess);
}

/// Factors of tf32 are not rounded here.
std::vector<Backend> backends() {
  return {{"cuda", create<Precision::fp32>, streamCopy, streamKernels()},
          {"cudaTf32", create<Precision::tf32>, streamCopy, streamKernels()},
          {"cudaBf16", create<Precision::bf16>, streamCopy, streamKernels(), 2e-2}};
}

} // namespace syncline::conformance
