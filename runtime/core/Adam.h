// Adam and AdamW for one element.
#pragma once

#include "runtime/core/Clipping.h"
#include "runtime/core/HostDevice.h"
#include "runtime/core/OptimizerOptions.h"

#include <cmath>
#include <cstdint>

namespace syncline::core {

/// What makes the moments' means free of their start at 0.
struct AdamCorrection {
  double first = 1;  ///< 1 / (1 - beta1^t)
  double second = 1; ///< 1 / √(1 - beta2^t)
};

/// The correction of the t-th update, t ≥ 1.
SYNCLINE_HOST_DEVICE inline AdamCorrection adamCorrection(double beta1, double beta2,
                                                          std::int64_t t) {
  const double updates = static_cast<double>(t);
  return {1 / (1 - pow(beta1, updates)), 1 / sqrt(1 - pow(beta2, updates))};
}

struct AdamConstants {
  float beta1, rest1, beta2, rest2; ///< rest: 1 - beta
  float epsilon;
  float decay; ///< Adam and LAMB: weightDecay; AdamW: rate·weightDecay
  float scale; ///< 1/ranks and the norm's factor; gradients are multiplied by it first
  float bound; ///< then they are brought into [-bound, bound]
  float step;  ///< rate · AdamCorrection::first
  float root;  ///< AdamCorrection::second
};

/// AdamConstants::decay of AdamW.
SYNCLINE_HOST_DEVICE inline float decoupledDecay(double rate, double weightDecay) {
  return static_cast<float>(rate * weightDecay);
}

/// The constants but for step and root.
inline AdamConstants adamConstants(const OptimizerOptions &o, double scale) {
  const float decay = o.kind == OptimizerKind::adamw ? decoupledDecay(o.rate, o.weightDecay)
                                                     : static_cast<float>(o.weightDecay);
  return {static_cast<float>(o.beta1),
          static_cast<float>(1 - o.beta1),
          static_cast<float>(o.beta2),
          static_cast<float>(1 - o.beta2),
          static_cast<float>(o.epsilon),
          decay,
          static_cast<float>(scale),
          static_cast<float>(o.clipValue),
          0,
          0};
}

/// One update, as OptimizerOptions states it; of AdamW if `decoupled`. `m` and `v` are the first
/// and the second moment. A factor 1 - decay in float would be wrong by the same amount in each
/// of the steps.
template <bool decoupled>
SYNCLINE_HOST_DEVICE inline void adamElement(float &w, float g, float &m, float &v,
                                             const AdamConstants &k) {
  const float clipped = clippedTo(k.bound, g * k.scale);
  const float gradient = decoupled ? clipped : clipped + k.decay * w;
  const float first = k.beta1 * m + k.rest1 * gradient;
  const float second = k.beta2 * v + k.rest2 * gradient * gradient;
  const float weight = decoupled ? w - k.decay * w : w;
  m = first;
  v = second;
  w = weight - k.step * (first / (sqrtf(second) * k.root + k.epsilon));
}

} // namespace syncline::core
