// Entries by their numbers: a copy forward; backward a block for each number that combines all
// updates of its entry, if it is the entry's first.
#include "runtime/cuda/kernels/IndexKernels.h"

#include "runtime/cuda/kernels/Launch.cuh"

#include <algorithm>
#include <cmath>

namespace syncline::cuda {

namespace {

using core::IndexedRows;

template <typename Index>
__global__ void takeKernel(IndexedRows of, const Index *indices, const float *x, float *y) {
  forEachElement(of.entries(), [&](std::int64_t at) {
    const std::int64_t k = at % of.width, i = at / of.width % of.count;
    const std::int64_t block = at / of.width / of.count;
    const std::int64_t row = core::namedRow(indices[block / of.free * of.count + i], of.rows);
    y[at] = row < 0 ? NAN : x[(block * of.rows + row) * of.width + k];
  });
}

template <typename Index>
__global__ void putKernel(IndexedRows of, ScatterKind kind, const Index *indices,
                          const float *updates, float *y) {
  const std::int64_t all = of.shared * of.count;
  for (std::int64_t at = blockIdx.x; at < all; at += gridDim.x) {
    const std::int64_t s = at / of.count, own = at % of.count;
    const Index *const numbers = indices + s * of.count;
    const std::int64_t row = core::namedRow(numbers[own], of.rows);
    double earlier = 0;
    for (std::int64_t i = threadIdx.x; i < own; i += threadsPerBlock)
      earlier += core::namedRow(numbers[i], of.rows) == row;
    const bool isFirst = blockSum(earlier) == 0;
    __syncthreads(); // the next sum uses the same memory
    if (row < 0 || !isFirst)
      continue;
    for (std::int64_t e = threadIdx.x; e < of.free * of.width; e += threadsPerBlock) {
      const std::int64_t block = s * of.free + e / of.width, k = e % of.width;
      float &to = y[(block * of.rows + row) * of.width + k];
      double value = to;
      for (std::int64_t i = own; i < of.count; ++i)
        if (core::namedRow(numbers[i], of.rows) == row)
          value = core::scattered(kind, value, updates[(block * of.count + i) * of.width + k]);
      to = static_cast<float>(value);
    }
  }
}

/// Makes all NaN that shares the leading dimensions with an index that names no entry.
template <typename Index>
__global__ void spoilKernel(IndexedRows of, const Index *indices, float *y) {
  const std::int64_t block = of.free * of.rows * of.width;
  for (std::int64_t s = blockIdx.x; s < of.shared; s += gridDim.x) {
    double missing = 0;
    for (std::int64_t i = threadIdx.x; i < of.count; i += threadsPerBlock)
      missing += core::namedRow(indices[s * of.count + i], of.rows) < 0;
    const bool isSpoilt = blockSum(missing) > 0;
    __syncthreads(); // the next sum uses the same memory
    for (std::int64_t e = threadIdx.x; isSpoilt && e < block; e += threadsPerBlock)
      y[s * block + e] = NAN;
  }
}

unsigned oneBlockFor(std::int64_t each) {
  return static_cast<unsigned>(std::min<std::int64_t>(each, 1 << 20));
}

} // namespace

template <typename Index>
cudaError_t gatherRows(cudaStream_t stream, const IndexedRows &of, const Index *indices,
                       const float *x, float *y) {
  return launch(takeKernel<Index>, blocksFor(of.entries()), stream, of, indices, x, y);
}

template <typename Index>
cudaError_t scatterRows(cudaStream_t stream, const IndexedRows &of, ScatterKind kind,
                        const Index *indices, const float *updates, const float *onto, float *y) {
  const auto bytes = static_cast<std::size_t>(of.elements()) * sizeof(float);
  cudaError_t status = cudaSuccess;
  if (!onto)
    status = cudaMemsetAsync(y, 0, bytes, stream);
  else if (onto != y)
    status = cudaMemcpyAsync(y, onto, bytes, cudaMemcpyDeviceToDevice, stream);
  if (status == cudaSuccess)
    status = launch(putKernel<Index>, oneBlockFor(of.shared * of.count), stream, of, kind, indices,
                    updates, y);
  if (status == cudaSuccess)
    status = launch(spoilKernel<Index>, oneBlockFor(of.shared), stream, of, indices, y);
  return status;
}

template cudaError_t gatherRows(cudaStream_t, const IndexedRows &, const std::int64_t *,
                                const float *, float *);
template cudaError_t gatherRows(cudaStream_t, const IndexedRows &, const float *, const float *,
                                float *);
template cudaError_t scatterRows(cudaStream_t, const IndexedRows &, ScatterKind,
                                 const std::int64_t *, const float *, const float *, float *);
template cudaError_t scatterRows(cudaStream_t, const IndexedRows &, ScatterKind, const float *,
                                 const float *, const float *, float *);

} // namespace syncline::cuda
