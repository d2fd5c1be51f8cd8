// Clipping of gradients, for one element and for the norm of all.
#pragma once

#include "runtime/core/HostDevice.h"

namespace syncline::core {

/// The factor by which gradients of this norm are multiplied so that the norm is at most `limit`,
/// as PyTorch's torch.nn.utils.clip_grad_norm_ has it. A norm that is NaN gives NaN.
SYNCLINE_HOST_DEVICE inline double clipFactor(double norm, double limit) {
  const double factor = limit / (norm + 1e-6);
  return factor > 1 ? 1 : factor;
}

/// The value in [-bound, bound] that is nearest to x, as PyTorch's torch.nn.utils.clip_grad_value_
/// has it; NaN stays NaN. Both comparisons are made in any case, so that loops vectorise.
SYNCLINE_HOST_DEVICE inline float clippedTo(float bound, float x) {
  const float least = x < -bound ? -bound : x;
  return least > bound ? bound : least;
}

} // namespace syncline::core
