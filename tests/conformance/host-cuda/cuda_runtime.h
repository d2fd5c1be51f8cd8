// A stand-in for CUDA's header of device code: kernels compile as C++ and run on the host, block
// after block; the threads of a block take turns where they wait for each other (HostLaunch.cpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <tuple>

#undef __global__
#undef __device__
#undef __shared__
#define __global__
#define __device__
#define __shared__ static // one block runs at a time

namespace syncline::conformance {

extern uint3 threadPlace, blockPlace;
extern dim3 gridExtents, blockExtents;

/// Runs `thread` once for every thread of every block.
cudaError_t runBlocks(dim3 grid, dim3 block, const std::function<void()> &thread);
/// Ends the calling thread's turn until all threads of its block have come here.
void waitForBlock();
/// The value that the thread has whose number in the warp is `lane`.
double valueOfLane(double own, unsigned lane);

} // namespace syncline::conformance

#define threadIdx syncline::conformance::threadPlace
#define blockIdx syncline::conformance::blockPlace
#define gridDim syncline::conformance::gridExtents
#define blockDim syncline::conformance::blockExtents

inline void __syncthreads() { syncline::conformance::waitForBlock(); }

/// Exact for floats too. The threads of a warp call it together.
template <typename T> T __shfl_xor_sync(unsigned, T value, unsigned mask) {
  return static_cast<T>(syncline::conformance::valueOfLane(value, threadIdx.x % 32 ^ mask));
}

template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                             std::size_t, cudaStream_t stream) {
  if (!stream)
    return cudaErrorInvalidResourceHandle; // the backend has streams of its own
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return syncline::conformance::runBlocks(
        grid, block, [&] { kernel(*static_cast<Parameters *>(arguments[I])...); });
  }(std::index_sequence_for<Parameters...>());
}
