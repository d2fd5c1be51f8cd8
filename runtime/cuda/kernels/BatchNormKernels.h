// Kernels for batch normalization of channels-last tensors, seen as matrices [rows, channels],
// and for other sums of columns. All pointers are device pointers; pointers to elements are
// aligned to four elements. No function waits. T is float or BFloat16. Sums are in double and
// in a fixed order.
//
// cuDNN would need two more kernels for an activation and its mask, and its older interfaces do not
// document bf16.
#pragma once

#include "runtime/cuda/kernels/BFloat16.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

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

/// How the forward pass tells the backward pass where y is positive, in the bytes of a workspace
/// with one for each element. The forward pass keeps gain and shift of each channel there, from
/// which the backward pass computes y again. It reads x in any case, and spares two readings of a
/// byte for each element. Where rows are too few for the two floats, it is a byte for each element.
/// Both are null without an activation. Byte is std::uint8_t, const for the backward pass.
template <typename Byte> struct Positives {
  using Float = std::conditional_t<std::is_const_v<Byte>, const float, float>;

  Float *line = nullptr; ///< [2, channels]
  Byte *mask = nullptr;

  Positives() = default;
  /// `workspace` is aligned to floats.
  Positives(const BatchNormShape &shape, Byte *workspace) {
    if (shape.rows >= 2 * sizeof(float))
      line = reinterpret_cast<Float *>(workspace);
    else
      mask = workspace;
  }
  SYNCLINE_HOST_DEVICE bool areAsked() const { return line || mask; }
};

/// Operands of the forward pass. All but x, y and what is positive have one value for each channel.
template <typename T> struct BatchNormForward {
  const T *x;
  T *y;
  Positives<std::uint8_t> positives; ///< other elements become 0
  const float *scale, *shift;
  float *mean, *variance;
  float *runningMean, *runningVariance; ///< null if they are not tracked
  double epsilon, momentum;
  /// If not null, y is not computed, and the factor of each channel is kept here for a later sum.
  float *gain = nullptr;
  /// If not null, the sums of x and of its squares as a convolution has made them, in f32.
  const float *sums = nullptr, *squares = nullptr;
  /// Whether they are taken whatever variance they tell: engines are timed with equal elements,
  /// whose sums would all be added up again.
  bool trustsSums = false;
};

/// Operands of the backward pass. All but x, dy, dx and `positives` have a value for each channel.
template <typename T> struct BatchNormBackward {
  const T *x, *dy;
  Positives<const std::uint8_t> positives;
  T *dx; ///< null if not needed, like the next two
  float *dscale, *dshift;
  const float *scale, *mean, *variance;
  double epsilon;
};

/// A sum that follows the norm, y + addend, and its ReLU. The norm's kernel computes it, with y
/// rounded to T first, so that the bits are those of two kernels. `result` may lie where the addend
/// does, and is null where no sum follows. Precondition: the norm has no activation.
template <typename T> struct SumAfterNorm {
  const T *addend = nullptr;
  /// If not null, the addend is another norm's x, and these are that norm's for each channel.
  const float *mean = nullptr, *gain = nullptr, *shift = nullptr;
  T *result = nullptr;
  bool hasRelu = false;
};

/// The sum that makes dy: first + second, or 0 where the gate is not positive. The kernel for the
/// norm's sums computes it, rounds it to T and stores it in `result`, which is where dy lies.
/// Precondition: the norm has no activation.
template <typename T> struct SumBeforeNorm {
  const T *first = nullptr;
  const T *second = nullptr, *gate = nullptr; ///< null if there is none
  T *result = nullptr;                        ///< null if dy has been made
};

/// Bytes of scratch memory for each function.
std::int64_t batchNormScratch(const BatchNormShape &shape);

/// Counters by which the blocks of a kernel find the last one among them.
inline constexpr std::uint32_t columnCounters = 2048;

/// Memory for a function's own use.
struct ColumnMemory {
  void *scratch;           ///< batchNormScratch() bytes
  std::uint32_t *counters; ///< columnCounters, 0 before and after
};

/// With a sum, y may be null. Where the given sums tell a channel's variance too roughly, because
/// its mean is much larger than its deviation, the channel is added up from x, unless the operands
/// trust them.
template <typename T>
cudaError_t batchNorm(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, const ColumnMemory &memory,
                      const SumAfterNorm<T> &sum = {});
/// As batchNorm(), with `mean` and `variance` as they are: inference by running statistics.
template <typename T>
cudaError_t batchNormBy(cudaStream_t stream, const BatchNormShape &shape,
                        const BatchNormForward<T> &operands, const ColumnMemory &memory,
                        const SumAfterNorm<T> &sum = {});
template <typename T>
cudaError_t batchNormBackward(cudaStream_t stream, const BatchNormShape &shape,
                              const BatchNormBackward<T> &operands, const ColumnMemory &memory,
                              const SumBeforeNorm<T> &sum = {});

/// dbias = Σ dy over the rows.
template <typename T>
cudaError_t biasGradient(cudaStream_t stream, const BatchNormShape &shape, const T *dy,
                         float *dbias, const ColumnMemory &memory);

} // namespace syncline::cuda
