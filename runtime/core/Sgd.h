// One element of SGD: what every backend's loop over a bucket does.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/HostDevice.h"

namespace syncline {

struct SgdConstants {
  float rate, momentum, decay;
  float scale; ///< multiplies gradients first: 1/ranks
};

inline SgdConstants sgdConstants(const SgdOptions &options, double scale) {
  return {static_cast<float>(options.rate), static_cast<float>(options.momentum),
          static_cast<float>(options.weightDecay), static_cast<float>(scale)};
}

/// Without momentum.
SYNCLINE_HOST_DEVICE inline void sgdPlain(float &w, float g, const SgdConstants &k) {
  w -= k.rate * (g * k.scale + k.decay * w);
}

/// A velocity of zeros gives PyTorch's first step (v = g).
template <bool nesterov>
SYNCLINE_HOST_DEVICE inline void sgdMomentum(float &w, float g, float &v, const SgdConstants &k) {
  const float gradient = g * k.scale + k.decay * w;
  const float velocity = k.momentum * v + gradient;
  v = velocity;
  w -= k.rate * (nesterov ? gradient + k.momentum * velocity : velocity);
}

/// What SgdOptions::keepsFinite means for one element, of which `update` changes w and v. Says
/// whether it was kept. The difference is 0 for all that is finite, in a form that vectorises.
template <typename Update>
SYNCLINE_HOST_DEVICE inline bool updateFinite(float &w, float &v, const Update &update) {
  float weight = w, velocity = v;
  update(weight, velocity);
  const bool isFinite = weight - weight == 0;
  w = isFinite ? weight : w;
  v = isFinite ? velocity : v;
  return !isFinite;
}

} // namespace syncline
