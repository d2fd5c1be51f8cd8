// How our kernels are launched: blocks of 256 threads, each of which takes every so manyth element.
#pragma once

#include "runtime/cuda/Pack.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <tuple>

namespace syncline::cuda {

inline constexpr unsigned threadsPerBlock = 256;

/// Enough blocks for n threads, but no more than keep any device busy.
inline unsigned blocksFor(std::int64_t n) {
  constexpr std::int64_t maxBlocks = 4096;
  const std::int64_t blocks = (n + threadsPerBlock - 1) / threadsPerBlock;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < maxBlocks ? blocks : maxBlocks);
}

inline bool isAlignedTo(const void *data, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

/// Launches by a call rather than by CUDA's own syntax, so that a host compiler reads it too.
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

/// Calls body(i) for this thread's share of 0..n.
template <typename Body> __device__ void forEachElement(std::int64_t n, const Body &body) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads)
    body(i);
}

/// The block's sum of `own`, in a fixed order; thread 0 has it. All threads of the block call it.
__device__ inline double blockSum(double own) {
  __shared__ double sums[threadsPerBlock];
  sums[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = threadsPerBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

} // namespace syncline::cuda
