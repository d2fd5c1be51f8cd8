// Rows of a table: a copy forward, and backward a block for each id that adds up all of its row,
// onto what stands there, if it is the row's first.
#include "runtime/cuda/kernels/EmbeddingKernels.h"

#include "runtime/core/Embedding.h"
#include "runtime/cuda/kernels/Launch.cuh"

#include <algorithm>
#include <cmath>

namespace syncline::cuda {

namespace {

__global__ void takeKernel(EmbeddingShape shape, const std::int64_t *ids, const float *table,
                           float *y) {
  forEachElement(shape.count * shape.width, [&](std::int64_t i) {
    const std::int64_t row = core::embeddingRow(ids[i / shape.width], shape.rows);
    y[i] = row < 0 ? NAN : table[row * shape.width + i % shape.width];
  });
}

__global__ void addKernel(EmbeddingShape shape, const std::int64_t *ids, const float *dy,
                          float *dtable) {
  for (std::int64_t own = blockIdx.x; own < shape.count; own += gridDim.x) {
    const std::int64_t row = core::embeddingRow(ids[own], shape.rows);
    double earlier = 0;
    for (std::int64_t i = threadIdx.x; i < own; i += threadsPerBlock)
      earlier += core::embeddingRow(ids[i], shape.rows) == row;
    const bool isFirst = blockSum(earlier) == 0;
    __syncthreads(); // the next sum uses the same memory
    if (row < 0 || !isFirst)
      continue;
    for (std::int64_t k = threadIdx.x; k < shape.width; k += threadsPerBlock) {
      double sum = dtable[row * shape.width + k];
      for (std::int64_t i = own; i < shape.count; ++i)
        if (core::embeddingRow(ids[i], shape.rows) == row)
          sum += dy[i * shape.width + k];
      dtable[row * shape.width + k] = static_cast<float>(sum);
    }
  }
}

} // namespace

cudaError_t embedding(cudaStream_t stream, const EmbeddingShape &shape, const std::int64_t *ids,
                      const float *table, float *y) {
  return launch(takeKernel, blocksFor(shape.count * shape.width), stream, shape, ids, table, y);
}

cudaError_t embeddingBackward(cudaStream_t stream, const EmbeddingShape &shape,
                              const std::int64_t *ids, const float *dy, const float *onto,
                              float *dtable) {
  const auto bytes = static_cast<std::size_t>(shape.rows * shape.width) * sizeof(float);
  cudaError_t prepared = cudaSuccess;
  if (!onto)
    prepared = cudaMemsetAsync(dtable, 0, bytes, stream);
  else if (onto != dtable)
    prepared = cudaMemcpyAsync(dtable, onto, bytes, cudaMemcpyDeviceToDevice, stream);
  if (prepared != cudaSuccess)
    return prepared;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(shape.count, 1 << 20));
  return launch(addKernel, blocks, stream, shape, ids, dy, dtable);
}

} // namespace syncline::cuda
