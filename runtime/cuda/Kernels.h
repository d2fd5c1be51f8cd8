// Our own kernels: launches on a stream. All pointers are the device's; nothing waits. Each returns
// what the launch said (cudaGetLastError). T is float or BFloat16.
#pragma once

#include "runtime/core/Dropout.h"
#include "runtime/core/Optimizer.h"
#include "runtime/core/Strides.h"
#include "runtime/cuda/BFloat16.h"
#include "runtime/cuda/IndexMaps.h"
#include "runtime/cuda/PoolMap.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

/// Copies map.count words of 1, 2, 4, 8 or 16 bytes.
cudaError_t copyWords(cudaStream_t stream, void *to, const void *from, const CopyMap &map,
                      int wordBytes);
/// Copies map.count elements, rounding them: float and BFloat16, either way.
template <typename To, typename From>
cudaError_t convertElements(cudaStream_t stream, To *to, const From *from, const CopyMap &map);
/// Matrices [rows, columns] one behind the other.
struct MatrixStack {
  std::uint32_t count = 0, rows = 0, columns = 0;
};
/// to[count, columns, rows] = from[count, rows, columns]: float and BFloat16, either as either, or
/// std::uint8_t.
template <typename To, typename From>
cudaError_t turnMatrices(cudaStream_t stream, To *to, const From *from, const MatrixStack &stack);
/// n elements of 1, 2, 4 or 8 bytes become the lowest bytes of `bits`.
cudaError_t fillElements(cudaStream_t stream, void *to, std::uint64_t bits, int elementBytes,
                         std::int64_t n);

/// Tap is std::uint8_t or std::int32_t; `n` counts elements of the result.
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

/// How many parts the terms of a reduction are summed in; more than one needs parts · results
/// doubles of scratch. The same for the same map on every device.
std::uint32_t reduceParts(const ReduceMap &map);
/// y = Σ x / divisor; sums in double and in a fixed order. `scratch` may be null for one part.
template <typename T>
cudaError_t reduceTerms(cudaStream_t stream, const ReduceMap &map, const T *x, float *y,
                        double divisor, double *scratch);

/// result = Σ parts / divisor, in a fixed order.
cudaError_t meanOfParts(cudaStream_t stream, const double *parts, std::uint32_t count,
                        double divisor, float *result);

/// Blocks of meanSquaredError(), each of which leaves one double in its scratch.
inline constexpr std::uint32_t errorBlocks = 512;
/// loss = mean of (y - target)²; dy its gradient unless null.
cudaError_t meanSquaredError(cudaStream_t stream, const float *y, const float *target, float *loss,
                             float *dy, std::int64_t n, double *scratch);
/// logits [outer, extent, inner], one label a position; scratch: outer · inner doubles. A label out
/// of range gives a NaN loss and gradient. dlogits may be null.
cudaError_t crossEntropy(cudaStream_t stream, const float *logits, const std::int64_t *target,
                         float *loss, float *dlogits, const AxisView &view, double *scratch);

/// y = activation(y + bias) in place; y [.., channels, inner]; bias may be null.
template <typename T>
cudaError_t addBias(cudaStream_t stream, T *y, const float *bias, std::int64_t channels,
                    std::int64_t inner, bool relu, std::int64_t n);
/// y = max(y, 0) in place, NaN stays; mask says where y was neither negative nor 0.
cudaError_t reluMask(cudaStream_t stream, float *y, std::uint8_t *mask, std::int64_t n);
/// y = mask ? x : 0.
cudaError_t applyMask(cudaStream_t stream, const float *x, const std::uint8_t *mask, float *y,
                      std::int64_t n);
cudaError_t setStepNumber(cudaStream_t stream, std::int64_t *step, std::int64_t number);
/// `step`: the step's number, read when the kernel runs.
cudaError_t dropout(cudaStream_t stream, const DropoutStream &numbers, const std::int64_t *step,
                    const float *x, float *y, std::uint8_t *mask, float scale, std::int64_t n);
/// dx = dy · (mask ? scale : 0).
cudaError_t dropoutBackward(cudaStream_t stream, const float *dy, const std::uint8_t *mask,
                            float *dx, float scale, std::int64_t n);
/// In place: 1/sqrt(variance + epsilon) becomes variance.
cudaError_t toVariance(cudaStream_t stream, float *values, float epsilon, std::int64_t n);
cudaError_t toInverseDeviation(cudaStream_t stream, const float *variance, float *values,
                               float epsilon, std::int64_t n);

/// One step of SGD over n elements; velocity may be null without momentum. `scale` multiplies
/// gradients first. `kept`, which the device can write, becomes 1 where options.keepsFinite kept an
/// element.
cudaError_t sgdUpdate(cudaStream_t stream, float *parameters, const float *gradients,
                      float *velocity, std::int64_t n, const SgdOptions &options, double scale,
                      std::int32_t *kept);

} // namespace syncline::cuda
