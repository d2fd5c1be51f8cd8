// Launching kernels with blocks of 256 threads. Threads step through the elements with a stride of
// the grid's size.
#pragma once

#include "runtime/core/Combine.h"
#include "runtime/cuda/kernels/Pack.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <tuple>

namespace syncline::cuda {

inline constexpr unsigned threadsPerBlock = 256;

/// The number of blocks for n threads, limited to what keeps any device busy.
inline unsigned blocksFor(std::int64_t n) {
  constexpr std::int64_t maxBlocks = 4096;
  const std::int64_t blocks = (n + threadsPerBlock - 1) / threadsPerBlock;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < maxBlocks ? blocks : maxBlocks);
}

inline bool isAlignedTo(const void *data, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

/// Launches by a function call instead of CUDA's launch syntax, so that host compilers accept
/// it too.
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, cudaStream_t stream,
                   const Arguments &...arguments) {
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  return std::apply(
      [&](Parameters &...each) {
        void *places[] = {&each...};
        return cudaLaunchKernel(kernel, grid, dim3(threadsPerBlock), places, 0, stream);
      },
      values);
}

/// Calls body(i) for this thread's share of the indices 0..n.
template <typename Body> __device__ void forEachElement(std::int64_t n, const Body &body) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads)
    body(i);
}

/// Combines `own` over the block, in a fixed order; thread 0 gets the result. All threads of the
/// block call it.
template <typename Combination> __device__ double blockCombined(double own) {
  __shared__ double parts[threadsPerBlock];
  parts[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = threadsPerBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      parts[threadIdx.x] = Combination::combine(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  return parts[0];
}

/// The sum of `own` over the block, likewise.
__device__ inline double blockSum(double own) { return blockCombined<core::Sum>(own); }

} // namespace syncline::cuda
