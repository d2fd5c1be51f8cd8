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
  int inner = 1;              ///< planes that lie element by element side by side: channels, last
  bool countsPadding = false; ///< averages divide by the whole window

  SYNCLINE_HOST_DEVICE int inputs() const { return x[0] * x[1] * x[2]; }
  SYNCLINE_HOST_DEVICE int results() const { return y[0] * y[1] * y[2]; }
  SYNCLINE_HOST_DEVICE int taps() const { return kernel[0] * kernel[1] * kernel[2]; }

  /// An element's place: its position in a plane, and where that plane begins in a tensor with so
  /// many positions.
  struct Element {
    std::uint32_t outer, plane;
    int position[3];

    SYNCLINE_HOST_DEVICE std::int64_t begin(const PoolMap &map, int positions) const {
      return static_cast<std::int64_t>(outer) * positions * map.inner + plane;
    }
  };
  /// Of the element with this number in memory, of a tensor with these extents.
  SYNCLINE_HOST_DEVICE Element element(std::uint32_t number, const int *extents) const {
    const auto planes = static_cast<std::uint32_t>(inner);
    const auto positions = static_cast<std::uint32_t>(extents[0] * extents[1] * extents[2]);
    const std::uint32_t rest = number / planes;
    Element at{rest / positions, number - rest * planes, {}};
    split(static_cast<int>(rest % positions), extents, at.position);
    return at;
  }

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
inline PoolMap poolMap(const Shape &x, const Shape &y, const Window &window, bool isChannelsLast) {
  PoolMap map;
  map.inner = isChannelsLast ? static_cast<int>(x[1]) : 1;
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

/// Element `number` of y; the first of equal maxima, NaN where there is one. The tap that it came
/// from goes to the workspace.
template <typename T, typename Tap>
SYNCLINE_HOST_DEVICE inline void maxPoolAt(const PoolMap &map, const T *x, T *y, Tap *workspace,
                                           std::uint32_t number) {
  const PoolMap::Element result = map.element(number, map.y);
  const T *from = x + result.begin(map, map.inputs());
  float best = 0;
  int bestTap = -1;
  for (int tap = 0; tap < map.taps(); ++tap) {
    const int at = map.inputOf(result.position, tap);
    if (at < 0)
      continue;
    const float value = from[static_cast<std::int64_t>(at) * map.inner];
    if (bestTap < 0 || value > best || (value != value && best == best)) {
      best = value;
      bestTap = tap;
    }
  }
  y[number] = static_cast<T>(best);
  workspace[number] = static_cast<Tap>(bestTap);
}

/// Element `number` of dx: what the windows over it that chose it have as gradient.
template <typename T, typename Tap>
SYNCLINE_HOST_DEVICE inline void maxPoolBackwardAt(const PoolMap &map, const T *dy,
                                                   const Tap *workspace, T *dx,
                                                   std::uint32_t number) {
  const PoolMap::Element input = map.element(number, map.x);
  const std::int64_t begin = input.begin(map, map.results());
  float sum = 0;
  for (int tap = 0; tap < map.taps(); ++tap) {
    const int at = map.resultOf(input.position, tap);
    const std::int64_t place = begin + static_cast<std::int64_t>(at) * map.inner;
    if (at >= 0 && workspace[place] == static_cast<Tap>(tap))
      sum += dy[place];
  }
  dx[number] = static_cast<T>(sum);
}

/// Element `number` of y.
template <typename T>
SYNCLINE_HOST_DEVICE inline void averagePoolAt(const PoolMap &map, const T *x, T *y,
                                               std::uint32_t number) {
  const PoolMap::Element result = map.element(number, map.y);
  const T *from = x + result.begin(map, map.inputs());
  int inside = 0;
  float sum = 0;
  for (int tap = 0; tap < map.taps(); ++tap)
    if (const int at = map.inputOf(result.position, tap); at >= 0) {
      sum += from[static_cast<std::int64_t>(at) * map.inner];
      ++inside;
    }
  y[number] = static_cast<T>(sum / static_cast<float>(map.countsPadding ? map.taps() : inside));
}

/// Element `number` of dx.
template <typename T>
SYNCLINE_HOST_DEVICE inline void averagePoolBackwardAt(const PoolMap &map, const T *dy, T *dx,
                                                       std::uint32_t number) {
  const PoolMap::Element input = map.element(number, map.x);
  const T *from = dy + input.begin(map, map.results());
  int result[3];
  float sum = 0;
  for (int tap = 0; tap < map.taps(); ++tap)
    if (const int at = map.resultOf(input.position, tap); at >= 0) {
      PoolMap::split(at, map.y, result);
      sum +=
          from[static_cast<std::int64_t>(at) * map.inner] / static_cast<float>(map.divisor(result));
    }
  dx[number] = static_cast<T>(sum);
}

} // namespace syncline::cuda
