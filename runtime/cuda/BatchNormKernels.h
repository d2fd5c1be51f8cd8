// Kernels for batch normalization of channels-last tensors, seen as matrices [rows, channels],
// and for other sums of columns. All pointers are device pointers; pointers to elements are
// aligned to four elements. No function waits. T is float or BFloat16. Sums are in double and
// in a fixed order.
//
// cuDNN would need two more kernels for an activation and its mask, and its older interfaces do not
// document bf16.
#pragma once

#include "runtime/cuda/BFloat16.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

struct BatchNormShape {
  std::uint32_t rows = 1, channels = 1;

  std::int64_t size() const { return std::int64_t{rows} * channels; }
};

/// The matrix of a channels-last tensor with dimensions N C spatial...
/// Precondition: Preparation::expectCountable.
inline BatchNormShape rowsAndChannels(const Shape &shape) {
  std::uint32_t rows = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    rows *= d == 1 ? 1 : static_cast<std::uint32_t>(shape[d]);
  return {rows, static_cast<std::uint32_t>(shape[1])};
}

/// Operands of the forward pass. All but x, y and mask have one value for each channel.
template <typename T> struct BatchNormForward {
  const T *x;
  T *y;
  std::uint8_t
      *mask; ///< records where y is positive; other elements become 0; null without activation
  const float *scale, *shift;
  float *mean, *variance;
  float *runningMean, *runningVariance; ///< null if they are not tracked
  double epsilon, momentum;
};

/// Operands of the backward pass. All but x, dy, mask and dx have one value for each channel.
template <typename T> struct BatchNormBackward {
  const T *x, *dy;
  const std::uint8_t *mask; ///< null without activation
  T *dx;                    ///< null if not needed, like the next two
  float *dscale, *dshift;
  const float *scale, *mean, *variance;
  double epsilon;
};

/// Bytes of scratch memory for each function.
std::int64_t batchNormScratch(const BatchNormShape &shape);

template <typename T>
cudaError_t batchNorm(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, void *scratch);
/// As batchNorm(), with `mean` and `variance` as they are: inference by running statistics.
template <typename T>
cudaError_t batchNormBy(cudaStream_t stream, const BatchNormShape &shape,
                        const BatchNormForward<T> &operands, void *scratch);
template <typename T>
cudaError_t batchNormBackward(cudaStream_t stream, const BatchNormShape &shape,
                              const BatchNormBackward<T> &operands, void *scratch);

/// dbias = Σ dy over the rows.
template <typename T>
cudaError_t biasGradient(cudaStream_t stream, const BatchNormShape &shape, const T *dy,
                         float *dbias, void *scratch);

} // namespace syncline::cuda
