// Kernels of entries that are taken and placed by their numbers, and of the largest elements of
// rows. As in Kernels.h, functions launch on a stream, take device pointers and do not wait.
#pragma once

#include "runtime/core/IndexedRows.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

/// Index is std::int64_t or float. What no index may name is NaN.
template <typename Index>
cudaError_t gatherRows(cudaStream_t stream, const core::IndexedRows &of, const Index *indices,
                       const float *x, float *y);
/// The updates are combined in double and in their order. `onto` may be null, which stands for
/// zeroes, or y, or lies elsewhere. Every block reads the indices of its leading dimensions.
template <typename Index>
cudaError_t scatterRows(cudaStream_t stream, const core::IndexedRows &of, ScatterKind kind,
                        const Index *indices, const float *updates, const float *onto, float *y);

/// The first `count` elements of each row of `size`, by core::comesBefore, and their places.
cudaError_t topK(cudaStream_t stream, std::int64_t rows, std::int64_t size, std::int64_t count,
                 bool largest, const float *x, float *values, float *indices);

} // namespace syncline::cuda
