// The backend's kernels on the host: the same element bodies and index maps, one after the other.
#include "runtime/cuda/Kernels.h"

#include "runtime/core/Sgd.h"
#include "runtime/cuda/ElementBodies.h"

#include <algorithm>
#include <cstring>

namespace syncline::cuda {

cudaError_t copyWords(cudaStream_t, void *to, const void *from, const CopyMap &map, int wordBytes) {
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) %
      static_cast<unsigned>(wordBytes))
    return cudaErrorMisalignedAddress;
  for (std::uint32_t i = 0; i < map.count; ++i) {
    std::int64_t toAt, fromAt;
    map.locate(i, toAt, fromAt);
    std::memcpy(static_cast<std::byte *>(to) + toAt * wordBytes,
                static_cast<const std::byte *>(from) + fromAt * wordBytes,
                static_cast<std::size_t>(wordBytes));
  }
  return cudaSuccess;
}

cudaError_t fillElements(cudaStream_t, void *to, std::uint64_t bits, int elementBytes,
                         std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(static_cast<std::byte *>(to) + i * elementBytes, &bits,
                static_cast<std::size_t>(elementBytes));
  return cudaSuccess;
}

template <typename Tap>
cudaError_t maxPool(cudaStream_t, const PoolMap &map, const float *x, float *y, Tap *workspace,
                    std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i)
    maxPoolAt(map, x, y, workspace, i);
  return cudaSuccess;
}

template <typename Tap>
cudaError_t maxPoolBackward(cudaStream_t, const PoolMap &map, const float *dy, const Tap *workspace,
                            float *dx, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i)
    maxPoolBackwardAt(map, dy, workspace, dx, i);
  return cudaSuccess;
}

template cudaError_t maxPool(cudaStream_t, const PoolMap &, const float *, float *, std::uint8_t *,
                             std::uint32_t);
template cudaError_t maxPool(cudaStream_t, const PoolMap &, const float *, float *, std::int32_t *,
                             std::uint32_t);
template cudaError_t maxPoolBackward(cudaStream_t, const PoolMap &, const float *,
                                     const std::uint8_t *, float *, std::uint32_t);
template cudaError_t maxPoolBackward(cudaStream_t, const PoolMap &, const float *,
                                     const std::int32_t *, float *, std::uint32_t);

cudaError_t averagePool(cudaStream_t, const PoolMap &map, const float *x, float *y,
                        std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i)
    averagePoolAt(map, x, y, i);
  return cudaSuccess;
}

cudaError_t averagePoolBackward(cudaStream_t, const PoolMap &map, const float *dy, float *dx,
                                std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i)
    averagePoolBackwardAt(map, dy, dx, i);
  return cudaSuccess;
}

/// Always several, so that scratch is used.
std::uint32_t reduceParts(const ReduceMap &) { return 3; }

cudaError_t reduceTerms(cudaStream_t, const ReduceMap &map, const float *x, float *y,
                        double divisor, double *scratch) {
  for (std::uint32_t part = 0; part < 3; ++part)
    for (std::uint32_t result = 0; result < map.results; ++result)
      scratch[part * map.results + result] = sumTerms(x, map, result, partBegin(map.terms, 3, part),
                                                      partBegin(map.terms, 3, part + 1), 1);
  for (std::uint32_t result = 0; result < map.results; ++result)
    y[result] = static_cast<float>(
        (scratch[result] + scratch[map.results + result] + scratch[2 * map.results + result]) /
        divisor);
  return cudaSuccess;
}

cudaError_t meanOfParts(cudaStream_t, const double *parts, std::uint32_t count, double divisor,
                        float *result) {
  double sum = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    sum += parts[i];
  *result = static_cast<float>(sum / divisor);
  return cudaSuccess;
}

cudaError_t meanSquaredError(cudaStream_t stream, const float *y, const float *target, float *loss,
                             float *dy, std::int64_t n, double *scratch) {
  std::fill_n(scratch, errorBlocks, 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    float gradient;
    scratch[i % errorBlocks] += squaredError(y[i], target[i], static_cast<double>(n), gradient);
    if (dy)
      dy[i] = gradient;
  }
  return meanOfParts(stream, scratch, errorBlocks, static_cast<double>(n), loss);
}

cudaError_t crossEntropy(cudaStream_t stream, const float *logits, const std::int64_t *target,
                         float *loss, float *dlogits, const AxisView &view, double *scratch) {
  const auto positions = static_cast<std::uint32_t>(view.outer * view.inner);
  for (std::uint32_t number = 0; number < positions; ++number) {
    const CrossEntropyPosition at =
        crossEntropyPosition(target, number, static_cast<std::uint32_t>(view.extent),
                             static_cast<std::uint32_t>(view.inner));
    LogSum sum;
    for (std::int64_t k = 0; k < view.extent; ++k)
      sum.add(logits[at.start + k * view.inner]);
    const bool isKnown = at.label >= 0 && at.label < view.extent;
    const double total = isKnown ? sum.value() : static_cast<double>(NAN);
    for (std::int64_t k = 0; dlogits && k < view.extent; ++k)
      dlogits[at.start + k * view.inner] =
          crossEntropyGradient(logits[at.start + k * view.inner], total, k == at.label, positions);
    scratch[number] = isKnown ? total - logits[at.start + at.label * view.inner] : total;
  }
  return meanOfParts(stream, scratch, positions, positions, loss);
}

cudaError_t addBias(cudaStream_t, float *y, const float *bias, std::int64_t channels,
                    std::int64_t inner, bool relu, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float value = y[i] + (bias ? bias[i / inner % channels] : 0);
    y[i] = relu ? std::max(value, 0.0f) : value;
  }
  return cudaSuccess;
}

cudaError_t reluMask(cudaStream_t, float *y, std::uint8_t *mask, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    mask[i] = y[i] > 0;
    y[i] = std::max(y[i], 0.0f);
  }
  return cudaSuccess;
}

cudaError_t applyMask(cudaStream_t, const float *x, const std::uint8_t *mask, float *y, float scale,
                      std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = mask[i] ? x[i] * scale : 0;
  return cudaSuccess;
}

cudaError_t dropout(cudaStream_t, const DropoutStream &numbers, std::int64_t step, const float *x,
                    float *y, std::uint8_t *mask, float scale, std::int64_t n) {
  for (std::int64_t block = 0; 4 * block < n; ++block)
    dropoutBlock(numbers, step, static_cast<std::uint64_t>(block), x, y, mask,
                 static_cast<std::uint64_t>(n), scale);
  return cudaSuccess;
}

cudaError_t toVariance(cudaStream_t, float *values, float epsilon, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    values[i] = varianceOf(values[i], epsilon);
  return cudaSuccess;
}

cudaError_t toInverseDeviation(cudaStream_t, const float *variance, float *values, float epsilon,
                               std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    values[i] = inverseDeviationOf(variance[i], epsilon);
  return cudaSuccess;
}

cudaError_t sgdUpdate(cudaStream_t, float *parameters, const float *gradients, float *velocity,
                      std::int64_t n, const SgdOptions &options, double scale) {
  const SgdConstants k = sgdConstants(options, scale);
  for (std::int64_t i = 0; i < n; ++i)
    if (options.momentum == 0)
      sgdPlain(parameters[i], gradients[i], k);
    else if (options.nesterov)
      sgdMomentum<true>(parameters[i], gradients[i], velocity[i], k);
    else
      sgdMomentum<false>(parameters[i], gradients[i], velocity[i], k);
  return cudaSuccess;
}

} // namespace syncline::cuda
