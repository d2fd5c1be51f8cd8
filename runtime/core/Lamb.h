// LAMB for one element, and the trust ratio of a whole parameter.
//
// The rule is Algorithm 2 of You et al., "Large Batch Optimization for Deep Learning: Training BERT
// in 76 minutes" (ICLR 2020, arXiv 1904.00962), with the identity as its function phi. It makes
// Adam's step with decoupled decay as long as the parameter is, times the rate. In the t-th update
// of a parameter, where |x| is the Euclidean norm over all of the parameter's elements:
//
//     m ← beta1·m + (1 - beta1)·g
//     v ← beta2·v + (1 - beta2)·g²
//     r ← m/(1 - beta1^t) / (√v/√(1 - beta2^t) + epsilon) + weightDecay·w
//     w ← w - rate·(|w|/|r|)·r              (|w|/|r| is 1 where either norm is 0)
//
// No weight may change before both norms are known, so an update takes two passes over memory. The
// first one stores the moments and adds up the squares of w and r; the second one computes r again,
// which needs no memory, and updates w.
#pragma once

#include "runtime/core/Adam.h"

namespace syncline::core {

/// Sums of squares over a parameter or a part of it. In double a square of f32 neither overflows
/// nor is rounded.
struct LambSquares {
  double weights = 0;    ///< of w
  double directions = 0; ///< of r
};

/// |w|/|r|. NaN where a sum is NaN.
SYNCLINE_HOST_DEVICE inline double trustRatio(const LambSquares &squares) {
  if (squares.weights == 0 || squares.directions == 0)
    return 1;
  return sqrt(squares.weights) / sqrt(squares.directions);
}

/// Completes adamConstants() for LAMB: `step` is AdamCorrection::first without the rate.
SYNCLINE_HOST_DEVICE inline void correctLamb(AdamConstants &k, const AdamCorrection &correction) {
  k.step = static_cast<float>(correction.first);
  k.root = static_cast<float>(correction.second);
}

SYNCLINE_HOST_DEVICE inline void lambMoments(float g, float &m, float &v, const AdamConstants &k) {
  const float gradient = clippedTo(k.bound, g * k.scale);
  m = k.beta1 * m + k.rest1 * gradient;
  v = k.beta2 * v + k.rest2 * gradient * gradient;
}

/// r of an element with these moments.
SYNCLINE_HOST_DEVICE inline float lambDirection(float w, float m, float v, const AdamConstants &k) {
  return k.step * m / (sqrtf(v) * k.root + k.epsilon) + k.decay * w;
}

/// 0 where the moments are finite, else NaN. Added to the squares it tells both passes, and all
/// ranks that sum them, that OptimizerOptions::keepsFinite keeps the parameter: a second moment
/// that overflows would give r = 0.
SYNCLINE_HOST_DEVICE inline float lambExcess(float m, float v) { return (m - m) + (v - v); }

/// Whether OptimizerOptions::keepsFinite leaves a parameter with these sums as it is.
SYNCLINE_HOST_DEVICE inline bool isLambKept(const LambSquares &squares) {
  const double sum = squares.weights + squares.directions;
  return !(sum - sum == 0);
}

} // namespace syncline::core
