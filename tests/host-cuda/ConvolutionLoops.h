// Convolutions on the host: one walk over all products, for the result and both gradients.
#pragma once

#include "syncline/Step.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace syncline::hostcuda {

/// Extents of a convolution of two or three spatial dimensions, the latter with a first of 1.
struct ConvolutionExtents {
  using Spatial = std::array<std::int64_t, 3>;

  ConvolutionExtents(const Window &window, const Shape &xDims, const Shape &wDims,
                     const Shape &yDims)
      : batch(xDims[0]), groups(window.groups), inputs(wDims[1]), outputs(wDims[0] / groups) {
    const std::size_t rank = window.strides.size();
    for (std::size_t d = 0; d < rank; ++d) {
      const std::size_t to = 3 - rank + d;
      x[to] = xDims[d + 2], w[to] = wDims[d + 2], y[to] = yDims[d + 2];
      strides[to] = window.strides[d], dilations[to] = window.dilations[d];
      pads[to] = window.padsBegin[d];
    }
  }

  static std::int64_t volume(const Spatial &of) { return of[0] * of[1] * of[2]; }
  std::int64_t xSize() const { return batch * groups * inputs * volume(x); }
  std::int64_t wSize() const { return groups * outputs * inputs * volume(w); }
  std::int64_t ySize() const { return batch * groups * outputs * volume(y); }

  std::int64_t batch, groups, inputs, outputs; ///< channels of one group
  Spatial x{1, 1, 1}, w{1, 1, 1}, y{1, 1, 1}, strides{1, 1, 1}, dilations{1, 1, 1}, pads{};
};

/// The rows of products of one weight: body(x, y, count), where each next product stands one behind
/// in y and a stride behind in x.
template <typename F>
void forEachRow(const ConvolutionExtents &e, const ConvolutionExtents::Spatial &k,
                std::int64_t xBegin, std::int64_t yBegin, const F &body) {
  auto place = [&](int d, std::int64_t at) {
    return at * e.strides[d] - e.pads[d] + k[d] * e.dilations[d];
  };
  for (std::int64_t z = 0; z < e.y[0]; ++z)
    for (std::int64_t v = 0; v < e.y[1]; ++v) {
      const std::int64_t xz = place(0, z), xv = place(1, v);
      if (xz < 0 || xz >= e.x[0] || xv < 0 || xv >= e.x[1])
        continue;
      std::int64_t first = 0, last = e.y[2];
      while (first < last && place(2, first) < 0)
        ++first;
      while (last > first && place(2, last - 1) >= e.x[2])
        --last;
      if (first < last)
        body(xBegin + (xz * e.x[1] + xv) * e.x[2] + place(2, first),
             yBegin + (z * e.y[1] + v) * e.y[2] + first, last - first);
    }
}

/// Calls body(x, w, y, count, stride) so that all products of the convolution are seen once.
template <typename F> void forEachProduct(const ConvolutionExtents &e, const F &body) {
  const std::int64_t kernel = e.volume(e.w);
  for (std::int64_t n = 0; n < e.batch; ++n)
    for (std::int64_t o = 0; o < e.groups * e.outputs; ++o)
      for (std::int64_t i = 0; i < e.inputs; ++i)
        for (std::int64_t tap = 0; tap < kernel; ++tap) {
          const ConvolutionExtents::Spatial k{tap / (e.w[1] * e.w[2]), tap / e.w[2] % e.w[1],
                                              tap % e.w[2]};
          const std::int64_t channel = (n * e.groups + o / e.outputs) * e.inputs + i;
          const std::int64_t w = (o * e.inputs + i) * kernel + tap;
          forEachRow(e, k, channel * e.volume(e.x), (n * e.groups * e.outputs + o) * e.volume(e.y),
                     [&](std::int64_t x, std::int64_t y, std::int64_t count) {
                       body(x, w, y, count, e.strides[2]);
                     });
        }
}

} // namespace syncline::hostcuda
