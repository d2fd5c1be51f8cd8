// A stand-in for CUDA's header of device code: kernels compile as C++ and run on the host, block
// after block; the threads of a block take turns where they wait for each other (HostLaunch.cpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#undef __global__
#undef __device__
#undef __shared__
#undef __launch_bounds__
#define __global__
#define __device__
#define __launch_bounds__(...)
#define __shared__ static thread_local // a stream's thread runs one block at a time

namespace syncline::hostcuda {

/// The place in the kernel that the calling stream's thread runs.
constinit extern thread_local uint3 threadPlace, blockPlace;
constinit extern thread_local dim3 gridExtents, blockExtents;

/// Runs `thread` once for every thread of every block, at the stream's turn.
cudaError_t launchBlocks(dim3 grid, dim3 block, cudaStream_t stream, std::function<void()> thread);
/// Ends the calling thread's turn until all threads of its block have come here.
void waitForBlock();
/// The value that the thread has whose number in the warp is `lane`.
double valueOfLane(double own, unsigned lane);

} // namespace syncline::hostcuda

#define threadIdx syncline::hostcuda::threadPlace
#define blockIdx syncline::hostcuda::blockPlace
#define gridDim syncline::hostcuda::gridExtents
#define blockDim syncline::hostcuda::blockExtents

/// Blocks run one behind the other.
inline void __threadfence() {}
inline unsigned atomicInc(unsigned *counter, unsigned most) {
  const unsigned old = *counter;
  *counter = old >= most ? 0 : old + 1;
  return old;
}

inline void __syncthreads() { syncline::hostcuda::waitForBlock(); }

/// Exact for floats too. The threads of a warp call it together.
template <typename T> T __shfl_xor_sync(unsigned, T value, unsigned mask) {
  return static_cast<T>(syncline::hostcuda::valueOfLane(value, threadIdx.x % 32 ^ mask));
}

/// Arguments are copied when it is called.
template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                             std::size_t, cudaStream_t stream) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::tuple<Parameters...> values(*static_cast<Parameters *>(arguments[I])...);
    return syncline::hostcuda::launchBlocks(grid, block, stream,
                                            [kernel, values] { std::apply(kernel, values); });
  }(std::index_sequence_for<Parameters...>());
}
