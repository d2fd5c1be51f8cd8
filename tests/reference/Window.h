// Windows that slide over spatial dimensions, for convolution and pooling.
#pragma once

#include "tests/reference/Tensor.h"

namespace syncline::reference {

/// Calls `visit` with every tap of the window at output position `out` that lies within the input
/// (not in the padding), and where in the input it lies.
inline void forEachTap(const nn::WindowRef &window, nn::DimsRef spatial, nn::DimsRef out,
                       const std::function<void(nn::DimsRef tap, nn::DimsRef position)> &visit) {
  forEachIndex(window.kernel, [&](nn::DimsRef tap) {
    nn::Dims position;
    for (std::size_t d = 0; d < spatial.size(); ++d) {
      position.push_back(out[d] * window.strides[d] + tap[d] * window.dilations[d] -
                         window.padsBegin[d]);
      if (position[d] < 0 || position[d] >= spatial[d])
        return;
    }
    visit(tap, position);
  });
}

} // namespace syncline::reference
