// A stand-in for CUDA's header: kernels run at once, one thread after the other, in this process.
// Generated CUDA compiles with it as C++, so that tests see what its loops compute without a GPU.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#define __global__
#define __device__

struct dim3 {
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  unsigned x, y, z;
};

inline dim3 gridDim, blockDim, blockIdx, threadIdx;

using cudaStream_t = int *; ///< counts the launches, where there is one

template <typename... Arguments, std::size_t... I>
void runKernel(void (*kernel)(Arguments...), void **arguments, std::index_sequence<I...>) {
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x)
      kernel(*static_cast<Arguments *>(arguments[I])...);
}

template <typename... Arguments>
int cudaLaunchKernel(void (*kernel)(Arguments...), dim3 grid, dim3 block, void **arguments,
                     std::size_t, cudaStream_t stream) {
  gridDim = grid, blockDim = block;
  runKernel(kernel, arguments, std::index_sequence_for<Arguments...>());
  if (stream)
    ++*stream;
  return 0;
}
