// Kernels of rows that are taken from a table by their numbers. As in Kernels.h, functions launch
// on a stream, take device pointers and do not wait.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

struct EmbeddingShape {
  std::int64_t count; ///< of ids
  std::int64_t rows;  ///< of the table
  std::int64_t width; ///< elements of a row
};

/// y[i] = table[ids[i]], or NaN where there is no such row.
cudaError_t embedding(cudaStream_t stream, const EmbeddingShape &shape, const std::int64_t *ids,
                      const float *table, float *y);
/// dtable = the sums of `onto`, zeroes where that is null, and of the rows of dy that were taken
/// from each row, in double and in the order of the ids. `onto` may be dtable, or lies elsewhere.
/// Every block reads all ids: the ids of a step are few beside its products.
cudaError_t embeddingBackward(cudaStream_t stream, const EmbeddingShape &shape,
                              const std::int64_t *ids, const float *dy, const float *onto,
                              float *dtable);

} // namespace syncline::cuda
