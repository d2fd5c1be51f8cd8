// Pooling by windows, an element at a time, for device and host: any strides, dilations and
// paddings in up to three dimensions.
//
// cuDNN's pooling knows no dilation, no different paddings before and after, and for its backward
// pass wants x and y, which a plan does not keep: it remembers where each maximum came from.
#pragma once

#include "runtime/core/HostDevice.h"
#include "syncline/Step.h"

#include <cstdint>

namespace syncline::cuda {

/// Dimensions that a pooling does not have are 1 wide, and come first.
struct PoolMap {
  int x[3] = {1, 1, 1}, y[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  int strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1}, begins[3] = {0, 0, 0};
  bool countsPadding = false; ///< averages divide by the whole window

  SYNCLINE_HOST_DEVICE int inputs() const { return x[0] * x[1] * x[2]; }
  SYNCLINE_HOST_DEVICE int results() const { return y[0] * y[1] * y[2]; }
  SYNCLINE_HOST_DEVICE int taps() const { return kernel[0] * kernel[1] * kernel[2]; }

  /// Splits a number of a position or a tap by these extents.
  SYNCLINE_HOST_DEVICE static void split(int number, const int *extents, int *digits) {
    for (int d = 3; d-- > 0; number /= extents[d])
      digits[d] = number % extents[d];
  }

  /// Where in a plane of x a tap of the window of a result lies; -1 in the padding.
  SYNCLINE_HOST_DEVICE int inputOf(const int *result, int tap) const {
    int t[3], at = 0;
    split(tap, kernel, t);
    for (int d = 0; d < 3; ++d) {
      const int place = result[d] * strides[d] + t[d] * dilations[d] - begins[d];
      if (place < 0 || place >= x[d])
        return -1;
      at = at * x[d] + place;
    }
    return at;
  }

  /// Which result of a plane has this position of x under this tap; -1 for none.
  SYNCLINE_HOST_DEVICE int resultOf(const int *input, int tap) const {
    int t[3], at = 0;
    split(tap, kernel, t);
    for (int d = 0; d < 3; ++d) {
      const int from = input[d] + begins[d] - t[d] * dilations[d];
      if (from < 0 || from % strides[d] != 0 || from / strides[d] >= y[d])
        return -1;
      at = at * y[d] + from / strides[d];
    }
    return at;
  }

  /// What an average divides by.
  SYNCLINE_HOST_DEVICE int divisor(const int *result) const {
    if (countsPadding)
      return taps();
    int inside = 0;
    for (int tap = 0; tap < taps(); ++tap)
      inside += inputOf(result, tap) >= 0;
    return inside;
  }
};

/// Precondition: at most three spatial dimensions. x and y: N C spatial...
inline PoolMap poolMap(const Shape &x, const Shape &y, const Window &window) {
  PoolMap map;
  const std::size_t spatial = window.kernel.size();
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::size_t d = 3 - spatial + i;
    map.x[d] = static_cast<int>(x[i + 2]);
    map.y[d] = static_cast<int>(y[i + 2]);
    map.kernel[d] = static_cast<int>(window.kernel[i]);
    map.strides[d] = static_cast<int>(window.strides[i]);
    map.dilations[d] = static_cast<int>(window.dilations[i]);
    map.begins[d] = static_cast<int>(window.padsBegin[i]);
  }
  map.countsPadding = window.countIncludePad;
  return map;
}

/// Element `number` of y over all planes; the first of equal maxima, NaN where there is one. The
/// tap that it came from goes to the workspace.
template <typename Tap>
SYNCLINE_HOST_DEVICE inline void maxPoolAt(const PoolMap &map, const float *x, float *y,
                                           Tap *workspace, std::uint32_t number) {
  const std::uint32_t plane = number / static_cast<std::uint32_t>(map.results());
  int result[3];
  PoolMap::split(static_cast<int>(number - plane * static_cast<std::uint32_t>(map.results())),
                 map.y, result);
  const float *from = x + static_cast<std::int64_t>(plane) * map.inputs();
  float best = 0;
  int bestTap = -1;
  for (int tap = 0; tap < map.taps(); ++tap) {
    const int at = map.inputOf(result, tap);
    if (at < 0)
      continue;
    const float value = from[at];
    if (bestTap < 0 || value > best || (value != value && best == best)) {
      best = value;
      bestTap = tap;
    }
  }
  y[number] = best;
  workspace[number] = static_cast<Tap>(bestTap);
}

/// Element `number` of dx: what the windows over it that chose it have as gradient.
template <typename Tap>
SYNCLINE_HOST_DEVICE inline void maxPoolBackwardAt(const PoolMap &map, const float *dy,
                                                   const Tap *workspace, float *dx,
                                                   std::uint32_t number) {
  const std::uint32_t plane = number / static_cast<std::uint32_t>(map.inputs());
  int input[3];
  PoolMap::split(static_cast<int>(number - plane * static_cast<std::uint32_t>(map.inputs())), map.x,
                 input);
  const std::int64_t base = static_cast<std::int64_t>(plane) * map.results();
  float sum = 0;
  for (int tap = 0; tap < map.taps(); ++tap) {
    const int at = map.resultOf(input, tap);
    if (at >= 0 && workspace[base + at] == static_cast<Tap>(tap))
      sum += dy[base + at];
  }
  dx[number] = sum;
}

/// Element `number` of y.
SYNCLINE_HOST_DEVICE inline void averagePoolAt(const PoolMap &map, const float *x, float *y,
                                               std::uint32_t number) {
  const std::uint32_t plane = number / static_cast<std::uint32_t>(map.results());
  int result[3], inside = 0;
  PoolMap::split(static_cast<int>(number - plane * static_cast<std::uint32_t>(map.results())),
                 map.y, result);
  const float *from = x + static_cast<std::int64_t>(plane) * map.inputs();
  float sum = 0;
  for (int tap = 0; tap < map.taps(); ++tap)
    if (const int at = map.inputOf(result, tap); at >= 0) {
      sum += from[at];
      ++inside;
    }
  y[number] = sum / static_cast<float>(map.countsPadding ? map.taps() : inside);
}

/// Element `number` of dx.
SYNCLINE_HOST_DEVICE inline void averagePoolBackwardAt(const PoolMap &map, const float *dy,
                                                       float *dx, std::uint32_t number) {
  const std::uint32_t plane = number / static_cast<std::uint32_t>(map.inputs());
  int input[3], result[3];
  PoolMap::split(static_cast<int>(number - plane * static_cast<std::uint32_t>(map.inputs())), map.x,
                 input);
  const float *from = dy + static_cast<std::int64_t>(plane) * map.results();
  float sum = 0;
  for (int tap = 0; tap < map.taps(); ++tap)
    if (const int at = map.resultOf(input, tap); at >= 0) {
      PoolMap::split(at, map.y, result);
      sum += from[at] / static_cast<float>(map.divisor(result));
    }
  dx[number] = sum;
}

} // namespace syncline::cuda
