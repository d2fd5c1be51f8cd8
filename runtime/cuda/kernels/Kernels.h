// Launches of the backend's kernels on a stream. All pointers are device pointers; no function
// waits. Each function returns the launch's error (cudaGetLastError). T is float or BFloat16.
#pragma once

#include "runtime/core/Adam.h"
#include "runtime/core/Noise.h"
#include "runtime/core/Strides.h"
#include "runtime/cuda/kernels/BFloat16.h"
#include "runtime/cuda/kernels/IndexMaps.h"
#include "runtime/cuda/kernels/PoolMap.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>

namespace syncline::cuda {

/// Copies map.count words of 1, 2, 4, 8 or 16 bytes.
cudaError_t copyWords(cudaStream_t stream, void *to, const void *from, const CopyMap &map,
                      int wordBytes);
/// Copies map.count elements and converts between float and BFloat16, rounding where needed.
template <typename To, typename From>
cudaError_t convertElements(cudaStream_t stream, To *to, const From *from, const CopyMap &map);
/// An array that is rounded. Addresses are aligned to four elements.
struct RoundedArray {
  const float *from;
  BFloat16 *to;
  std::int64_t n;
};
/// Rounds arrays, as many as there are by one launch of at most maxRoundedArrays.
cudaError_t roundArrays(cudaStream_t stream, std::span<const RoundedArray> arrays);
inline constexpr std::size_t maxRoundedArrays = 128;

/// A stack of matrices [rows, columns], one behind the other.
struct MatrixStack {
  std::uint32_t count = 0, rows = 0, columns = 0;
};
/// to[count, columns, rows] = from[count, rows, columns]. Types are any of float and BFloat16 on
/// each side, or std::uint8_t on both.
template <typename To, typename From>
cudaError_t turnMatrices(cudaStream_t stream, To *to, const From *from, const MatrixStack &stack);
/// Sets n elements of 1, 2, 4 or 8 bytes to the lowest bytes of `bits`.
cudaError_t fillElements(cudaStream_t stream, void *to, std::uint64_t bits, int elementBytes,
                         std::int64_t n);

/// Pooling. Tap, the workspace's type, is std::uint8_t or std::int32_t; `n` is the number of the
/// result's elements.
template <typename T, typename Tap>
cudaError_t maxPool(cudaStream_t stream, const PoolMap &map, const T *x, T *y, Tap *workspace,
                    std::uint32_t n);
template <typename T, typename Tap>
cudaError_t maxPoolBackward(cudaStream_t stream, const PoolMap &map, const T *dy,
                            const Tap *workspace, T *dx, std::uint32_t n);
template <typename T>
cudaError_t averagePool(cudaStream_t stream, const PoolMap &map, const T *x, T *y, std::uint32_t n);
template <typename T>
cudaError_t averagePoolBackward(cudaStream_t stream, const PoolMap &map, const T *dy, T *dx,
                                std::uint32_t n);

/// The number of parts in which the terms of a reduction are combined. More than one part needs
/// parts · results doubles of scratch memory. The number depends on the map, not on the device.
std::uint32_t reduceParts(const ReduceMap &map);
/// y is x reduced, in double and in a fixed order. `scratch` may be null for one part.
template <typename T>
cudaError_t reduceTerms(cudaStream_t stream, Reduction kind, const ReduceMap &map, const T *x,
                        float *y, double *scratch);

/// result = Σ parts / divisor, in a fixed order.
cudaError_t meanOfParts(cudaStream_t stream, const double *parts, std::uint32_t count,
                        double divisor, float *result);

/// The number of blocks of meanSquaredError(). Each block writes one double to scratch memory.
inline constexpr std::uint32_t errorBlocks = 512;
/// loss = mean of (y - target)²; dy is its gradient, multiplied by `scale`, and may be null.
cudaError_t meanSquaredError(cudaStream_t stream, const float *y, const float *target, float *loss,
                             float *dy, std::int64_t n, double scale, double *scratch);
/// What a cross-entropy adds up and what it divides by.
struct CrossEntropyTerms {
  double smoothing; ///< the label's part is 1 - smoothing; the rest is the mean over all classes
  const float *weights; ///< by which the losses of classes are multiplied; null where all are 1
  double scale;         ///< multiplies the gradient
  bool isWeighed;       ///< labels that weigh nothing divide by 1, else by 0
};
/// Cross-entropy of logits [outer, extent, inner] with one label for each position, divided by the
/// sum of the labels' weights. `scratch` has outer · inner + 2 doubles. A label out of range gives
/// NaN as loss and gradient; an ignored one does not count. dlogits may be null.
cudaError_t crossEntropy(cudaStream_t stream, const float *logits, const std::int64_t *target,
                         float *loss, float *dlogits, const core::AxisView &view,
                         const CrossEntropyTerms &terms, double *scratch);

/// y = activation(y + bias) in place, for y [.., channels, inner]. bias may be null.
template <typename T>
cudaError_t addBias(cudaStream_t stream, T *y, const float *bias, std::int64_t channels,
                    std::int64_t inner, bool relu, std::int64_t n);
/// y = max(y, 0) in place; NaN stays NaN. mask records where y was neither negative nor 0.
cudaError_t reluMask(cudaStream_t stream, float *y, std::uint8_t *mask, std::int64_t n);
/// y = mask ? x : 0.
cudaError_t applyMask(cudaStream_t stream, const float *x, const std::uint8_t *mask, float *y,
                      std::int64_t n);
cudaError_t setStepNumber(cudaStream_t stream, std::int64_t *step, std::int64_t number);
cudaError_t setRate(cudaStream_t stream, double *rate, double value);
/// Dropout. The kernel reads the step's number from `step` when it runs.
cudaError_t dropout(cudaStream_t stream, const core::DropoutStream &numbers,
                    const std::int64_t *step, const float *x, float *y, std::uint8_t *mask,
                    float scale, std::int64_t n);
/// dx = dy · (mask ? scale : 0).
cudaError_t dropoutBackward(cudaStream_t stream, const float *dy, const std::uint8_t *mask,
                            float *dx, float scale, std::int64_t n);
/// Random numbers. The kernel reads the step's number from `step` when it runs.
cudaError_t noise(cudaStream_t stream, const core::NoiseStream &numbers, const std::int64_t *step,
                  float *y, std::int64_t n);
/// Replaces 1/sqrt(variance + epsilon) by variance, in place.
cudaError_t toVariance(cudaStream_t stream, float *values, float epsilon, std::int64_t n);
cudaError_t toInverseDeviation(cudaStream_t stream, const float *variance, float *values,
                               float epsilon, std::int64_t n);

/// How many updates a bucket has had, and the last one's correction, in the device's memory. A
/// captured step, which repeats its launches, counts by it.
struct UpdateClock {
  std::int64_t made = 0;
  core::AdamCorrection correction;
};
/// Counts one more update and computes its correction.
cudaError_t countUpdate(cudaStream_t stream, UpdateClock *clock, double beta1, double beta2);

/// What one update works on. `state` is by slot; null where options.slots() has none.
struct UpdateOperands {
  float *parameters = nullptr;
  const float *gradients = nullptr;
  std::array<float *, 2> state{};
  std::int64_t n = 0;
  const double *factor = nullptr; ///< read when the kernel runs, in place of `scale`; may be null
  /// Read when the kernel runs: *rate * rateFactor takes the place of options.rate. May be null.
  const double *rate = nullptr;
  double rateFactor = 1;
  BFloat16 *rounded = nullptr; ///< copies of the parameters, which are written too; may be null
};
/// One update of n elements. Gradients are first multiplied by `scale`. SGD needs no clock. `kept`,
/// which the device can write, becomes 1 when options.keepsFinite kept an element.
cudaError_t updateElements(cudaStream_t stream, const UpdateOperands &operands,
                           const core::OptimizerOptions &options, double scale,
                           const UpdateClock *clock, std::int32_t *kept);

} // namespace syncline::cuda
