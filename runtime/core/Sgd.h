// SGD for one element.
#pragma once

#include "runtime/core/Clipping.h"
#include "runtime/core/HostDevice.h"
#include "runtime/core/OptimizerOptions.h"

namespace syncline::core {

struct SgdConstants {
  float rate, momentum, decay;
  float scale; ///< 1/ranks and the norm's factor; gradients are multiplied by it first
  float bound; ///< then they are brought into [-bound, bound]
};

inline SgdConstants sgdConstants(const OptimizerOptions &options, double scale) {
  return {static_cast<float>(options.rate), static_cast<float>(options.momentum),
          static_cast<float>(options.weightDecay), static_cast<float>(scale),
          static_cast<float>(options.clipValue)};
}

/// The update without momentum.
SYNCLINE_HOST_DEVICE inline void sgdPlain(float &w, float g, const SgdConstants &k) {
  w -= k.rate * (clippedTo(k.bound, g * k.scale) + k.decay * w);
}

/// The update with momentum. A velocity of 0 gives PyTorch's first step (v = g).
template <bool nesterov>
SYNCLINE_HOST_DEVICE inline void sgdMomentum(float &w, float g, float &v, const SgdConstants &k) {
  const float gradient = clippedTo(k.bound, g * k.scale) + k.decay * w;
  const float velocity = k.momentum * v + gradient;
  v = velocity;
  w -= k.rate * (nesterov ? gradient + k.momentum * velocity : velocity);
}

} // namespace syncline::core
