// The largest elements of rows: a block for each row finds one after the other, each time the first
// of those that come after the one before.
#include "runtime/cuda/kernels/IndexKernels.h"

#include "runtime/core/TopOrder.h"
#include "runtime/cuda/kernels/Launch.cuh"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// The one of two places in the row whose element comes first; -1 is no place.
__device__ std::int64_t firstOf(const float *row, std::int64_t i, std::int64_t j, bool largest) {
  if (i < 0 || j < 0)
    return i < 0 ? j : i;
  return core::comesBefore(row[i], i, row[j], j, largest) ? i : j;
}

/// The first of the threads' places; every thread gets it.
__device__ std::int64_t firstOfBlock(const float *row, std::int64_t own, bool largest) {
  __shared__ std::int64_t places[threadsPerBlock];
  places[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = threadsPerBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      places[threadIdx.x] = firstOf(row, places[threadIdx.x], places[threadIdx.x + half], largest);
    __syncthreads();
  }
  const std::int64_t first = places[0];
  __syncthreads(); // the next call uses the same memory
  return first;
}

__global__ void topKernel(std::int64_t rows, std::int64_t size, std::int64_t count, bool largest,
                          const float *x, float *values, float *indices) {
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const float *const row = x + r * size;
    std::int64_t last = -1;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t own = -1;
      for (std::int64_t i = threadIdx.x; i < size; i += threadsPerBlock)
        if (last < 0 || core::comesBefore(row[last], last, row[i], i, largest))
          own = firstOf(row, own, i, largest);
      last = firstOfBlock(row, own, largest);
      if (threadIdx.x == 0) {
        values[r * count + k] = row[last];
        indices[r * count + k] = static_cast<float>(last);
      }
    }
  }
}

} // namespace

cudaError_t topK(cudaStream_t stream, std::int64_t rows, std::int64_t size, std::int64_t count,
                 bool largest, const float *x, float *values, float *indices) {
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(rows, 1 << 20));
  return launch(topKernel, blocks, stream, rows, size, count, largest, x, values, indices);
}

} // namespace syncline::cuda
