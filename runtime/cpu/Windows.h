// Geometry of windows, shared by convolution and pooling.
#pragma once

#include "syncline/Step.h"

namespace syncline::cpu {

/// The padding after spatial dimension i for oneDNN, which checks it against the result's extent.
/// It is the model's padding, or the one that the result's extent needs where these differ, as in
/// pooling that rounds up.
inline std::int64_t paddingEnd(const Window &window, std::size_t i, std::int64_t kernel,
                               std::int64_t x, std::int64_t y) {
  const std::int64_t extent = (kernel - 1) * window.dilations[i] + 1;
  const std::int64_t free = x + window.padsBegin[i] + window.padsEnd[i] - extent;
  if (free >= 0 && free / window.strides[i] + 1 == y)
    return window.padsEnd[i];
  return (y - 1) * window.strides[i] + extent - x - window.padsBegin[i];
}

} // namespace syncline::cpu
