// Kernels of layer normalization on dense matrices whose rows are normalized. As in Kernels.h,
// functions launch on a stream, take device pointers and do not wait.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

struct LayerNormShape {
  std::uint32_t rows, columns;
  double epsilon;
};

/// y = scale·(x - mean)/sqrt(variance + epsilon) + shift by rows, with sums in double and in a
/// fixed order. `shift` may be null.
cudaError_t layerNorm(cudaStream_t stream, const LayerNormShape &shape, const float *x,
                      const float *scale, const float *shift, float *y);

struct LayerNormBackward {
  const float *x, *scale, *dy;
  float *dx, *dscale, *dshift; ///< null where they are not wanted
};

/// Bytes of scratch memory for the backward pass.
std::int64_t layerNormScratch(const LayerNormShape &shape);
/// The gradients of layerNorm(). The rows' statistics are computed again.
cudaError_t layerNormBackward(cudaStream_t stream, const LayerNormShape &shape,
                              const LayerNormBackward &operands, void *scratch);

} // namespace syncline::cuda
