// The backend under test: CUDA's, over the host's libraries in this folder.
#include "tests/conformance/PointwiseLoops.h"
#include "tests/host-cuda/HostKernels.h"
#include "tests/host-cuda/cuda_runtime.h"

#include "runtime/cuda/CudaExecutable.h"

#include <gtest/gtest.h>

namespace syncline::conformance {

namespace {

using namespace core;

template <Precision precision>
Result<std::unique_ptr<Executable>> create(const ExecutableOptions &given) {
  ExecutableOptions options = given;
  options.precision = precision;
  return std::unique_ptr<Executable>(std::make_unique<cuda::CudaExecutable>(options));
}

template <typename Loop> void loopKernel(LoopOperands operands, std::int64_t n) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
    Loop::at(operands, i);
}

/// As generated code does: operands by value, on the backend's queue.
template <typename Loop>
void launchRounded(void *const *outs, const void *const *ins, std::int64_t n, std::uint64_t rounded,
                   void *queue) {
  LoopOperands operands = operandsOf<Loop>(outs, ins, rounded);
  void *arguments[] = {&operands, &n};
  cudaLaunchKernel(loopKernel<Loop>, dim3(4), dim3(128), arguments, 0,
                   static_cast<cudaStream_t>(queue));
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

PointwiseKernels streamKernels() {
  return {{launch<AddRelu>, launchRounded<AddRelu>},
          {launch<AddOne>, launchRounded<AddOne>},
          {launch<Twice>, launchRounded<Twice>},
          scaleChannels,
          formed<Sum<false>>(),
          formed<Sum<true>>(),
          formed<ReluGradient<1>>(),
          formed<ReluGradient<2>>()};
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
