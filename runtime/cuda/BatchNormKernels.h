// Batch normalization of matrices [rows, channels], what lies channels last, and other sums of
// their columns. All pointers are the device's, those to elements aligned to four of them; nothing
// waits; T is float or BFloat16. Sums are in double and in a fixed order.
//
// cuDNN takes two kernels more for an activation and its mask, and documents bf16 for none of its
// older interfaces.
#pragma once

#include "runtime/cuda/BFloat16.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

struct BatchNormShape {
  std::uint32_t rows = 1, channels = 1;

  std::int64_t size() const { return std::int64_t{rows} * channels; }
};

/// Of a tensor N C spatial... that lies channels last. Precondition: elements that can be counted.
inline BatchNormShape rowsAndChannels(const Shape &shape) {
  std::uint32_t rows = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    rows *= d == 1 ? 1 : static_cast<std::uint32_t>(shape[d]);
  return {rows, static_cast<std::uint32_t>(shape[1])};
}

/// Of one value a channel, but x, y and mask.
template <typename T> struct BatchNormForward {
  const T *x;
  T *y;
  std::uint8_t *mask; ///< where y is positive, all else becomes 0; null for no activation
  const float *scale, *shift;
  float *mean, *variance;
  float *runningMean, *runningVariance; ///< null where nobody keeps them
  double epsilon, momentum;
};

/// Of one value a channel, but x, dy, mask and dx.
template <typename T> struct BatchNormBackward {
  const T *x, *dy;
  const std::uint8_t *mask; ///< null for no activation
  T *dx;                    ///< null where nobody asks, like the next two
  float *dscale, *dshift;
  const float *scale, *mean, *variance;
  double epsilon;
};

/// Bytes of scratch that each function needs.
std::int64_t batchNormScratch(const BatchNormShape &shape);

template <typename T>
cudaError_t batchNorm(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, void *scratch);
template <typename T>
cudaError_t batchNormBackward(cudaStream_t stream, const BatchNormShape &shape,
                              const BatchNormBackward<T> &operands, void *scratch);

/// dbias = Σ dy over the rows.
template <typename T>
cudaError_t biasGradient(cudaStream_t stream, const BatchNormShape &shape, const T *dy,
                         float *dbias, void *scratch);

} // namespace syncline::cuda
