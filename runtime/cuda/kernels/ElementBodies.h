// The computation of one element or a few neighbours in the backend's kernels, for device and host.
#pragma once

#include "runtime/core/Dropout.h"
#include "runtime/core/HostDevice.h"

#include <cmath>
#include <cstdint>

namespace syncline::cuda {

/// log Σ exp of some values, without overflow, as largest + log(sum). Two of them can be joined.
struct LogSum {
  float largest = -INFINITY;
  double sum = 0; ///< of exp(x - largest); 0 without values

  SYNCLINE_HOST_DEVICE void add(float x) {
    if (x == -INFINITY) // adds 0; without this check -inf - -inf would give NaN
      return;
    if (x > largest) {
      sum = sum * exp(static_cast<double>(largest) - x) + 1;
      largest = x;
    } else {
      sum += exp(static_cast<double>(x) - largest);
    }
  }

  /// Joins two sums. The result has the same bits in either order.
  SYNCLINE_HOST_DEVICE static LogSum join(const LogSum &a, const LogSum &b) {
    if (b.sum == 0)
      return a;
    if (a.sum == 0)
      return b;
    LogSum both;
    both.largest = a.largest > b.largest ? a.largest : b.largest;
    both.sum = a.sum * exp(static_cast<double>(a.largest) - both.largest) +
               b.sum * exp(static_cast<double>(b.largest) - both.largest);
    return both;
  }

  SYNCLINE_HOST_DEVICE double value() const { return largest + log(sum); }
};

/// One position of a loss over logits [outer, classes, inner].
struct CrossEntropyPosition {
  std::int64_t start; ///< index of its first logit
  std::int64_t label;
};

SYNCLINE_HOST_DEVICE inline CrossEntropyPosition crossEntropyPosition(const std::int64_t *target,
                                                                      std::uint32_t number,
                                                                      std::uint32_t classes,
                                                                      std::uint32_t inner) {
  const std::uint32_t outer = number / inner;
  return {static_cast<std::int64_t>(outer) * classes * inner + (number - outer * inner),
          target[number]};
}

/// The gradient of a logit, multiplied by `scale`. `total` is log Σ exp of its position, or NaN for
/// a label out of range; `wanted` is the class's part of the loss, `ofAll` that of all classes.
SYNCLINE_HOST_DEVICE inline float crossEntropyGradient(float logit, double total, double wanted,
                                                       double positions, double scale = 1,
                                                       double ofAll = 1) {
  return static_cast<float>((ofAll * exp(logit - total) - wanted) / positions * scale);
}

/// (y - target)², and the gradient of its mean over n elements, multiplied by `scale`.
SYNCLINE_HOST_DEVICE inline double squaredError(float y, float target, double n, float &gradient,
                                                double scale = 1) {
  const double difference = static_cast<double>(y) - target;
  gradient = static_cast<float>(2 * difference / n * scale);
  return difference * difference;
}

/// The result of dropout for one element. It is a product, so that NaN stays NaN as in PyTorch.
SYNCLINE_HOST_DEVICE inline float dropped(float x, bool isKept, float scale) {
  return x * (isKept ? scale : 0.0f);
}

/// Dropout for elements 4·block to 4·block + 3 of n.
SYNCLINE_HOST_DEVICE inline void dropoutBlock(const core::DropoutStream &stream, std::int64_t step,
                                              std::uint64_t block, const float *x, float *y,
                                              std::uint8_t *mask, std::uint64_t n, float scale) {
  const auto words = core::dropoutWords(stream, step, block);
  for (std::uint64_t k = 0; k < 4 && 4 * block + k < n; ++k) {
    const std::uint64_t i = 4 * block + k;
    mask[i] = words[k] >= stream.threshold;
    y[i] = dropped(x[i], mask[i], scale);
  }
}

/// The variance from the inverse deviation that cuDNN stores, clamped so that rounding does not
/// make it negative.
SYNCLINE_HOST_DEVICE inline float varianceOf(float inverseDeviation, float epsilon) {
  const double deviation = 1 / static_cast<double>(inverseDeviation);
  const double variance = deviation * deviation - epsilon;
  return static_cast<float>(variance < 0 ? 0.0 : variance);
}
SYNCLINE_HOST_DEVICE inline float inverseDeviationOf(float variance, float epsilon) {
  return static_cast<float>(1 / sqrt(static_cast<double>(variance) + epsilon));
}

} // namespace syncline::cuda
