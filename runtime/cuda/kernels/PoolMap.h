// The elements in the windows of a pooling, for device and host, with any strides, dilations and
// paddings in up to three dimensions. Only elements inside a window are visited, and there is no
// division by a number unknown to the compiler.
//
// cuDNN's pooling supports neither dilations nor different paddings before and after. Its backward
// pass needs x and y, which a plan does not keep; a plan keeps the position of each maximum.
#pragma once

#include "runtime/cuda/kernels/Divisor.h"
#include "syncline/Step.h"

#include <cstdint>

namespace syncline::cuda {

/// Pooling in three dimensions. Missing dimensions have extent 1 and come first.
struct PoolMap {
  /// The extents of a tensor's plane.
  struct Extents {
    int at[3] = {1, 1, 1};
    Divisor by[3];

    SYNCLINE_HOST_DEVICE int positions() const { return at[0] * at[1] * at[2]; }
  };
  Extents x, y;
  int kernel[3] = {1, 1, 1}, strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1}, begins[3] = {};
  Divisor byStride[3], byDilation[3];
  int inner = 1;              ///< number of interleaved planes: the channels when they are last
  Divisor byInner;            ///< divides by `inner`
  Divisor byPlanes;           ///< divides by the elements of `inner` planes of x
  bool countsPadding = false; ///< averages divide by the whole window
  bool isGlobal = false;      ///< y has one position in each plane, whose window is all of x

  SYNCLINE_HOST_DEVICE int taps() const { return kernel[0] * kernel[1] * kernel[2]; }

  /// An element's position in its plane, and the start of the plane in a tensor with the
  /// plane's extents.
  struct Element {
    std::uint32_t outer, plane;
    int position[3];

    SYNCLINE_HOST_DEVICE std::uint32_t begin(const PoolMap &map, int positions) const {
      return outer * static_cast<std::uint32_t>(positions * map.inner) + plane;
    }
  };
  /// The element with this number in memory, in a tensor with these extents.
  SYNCLINE_HOST_DEVICE Element element(std::uint32_t number, const Extents &extents) const {
    Element at;
    at.plane = byInner.split(number);
    for (int d = 3; d-- > 0;)
      at.position[d] = static_cast<int>(extents.by[d].split(number));
    at.outer = number;
    return at;
  }

  /// The numbers from `begin` to `end` - 1.
  struct Range {
    int begin, end;
  };
  /// The taps of a result's window that lie in x and not in the padding.
  SYNCLINE_HOST_DEVICE Range tapsIn(int d, int result) const {
    const int before = begins[d] - result * strides[d], last = x.at[d] - 1 + before;
    const int end = last < 0 ? 0 : divide(byDilation[d], last) + 1;
    return {divideUp(byDilation[d], before), end < kernel[d] ? end : kernel[d]};
  }
  /// The results whose windows begin at or before this position of x and end at or after it. They
  /// include all windows that hold the position and, with dilations, some that do not.
  SYNCLINE_HOST_DEVICE Range resultsOver(int d, int input) const {
    const int last = input + begins[d], end = divide(byStride[d], last) + 1;
    return {divideUp(byStride[d], last - (kernel[d] - 1) * dilations[d]),
            end < y.at[d] ? end : y.at[d]};
  }
  /// The tap of such a result's window at this position, or -1.
  SYNCLINE_HOST_DEVICE int tapAt(int d, int result, int input) const {
    const int distance = input + begins[d] - result * strides[d];
    const int tap = divide(byDilation[d], distance);
    return tap * dilations[d] == distance ? tap : -1;
  }

  /// Calls use(position in a plane of x, tap) for the taps of a result's window in x, in
  /// ascending order.
  template <typename Use>
  SYNCLINE_HOST_DEVICE void forEachTap(const int (&result)[3], const Use &use) const {
    Range taps[3];
    int first[3];
    for (int d = 0; d < 3; ++d) {
      taps[d] = tapsIn(d, result[d]);
      first[d] = result[d] * strides[d] - begins[d];
    }
    for (int a = taps[0].begin; a < taps[0].end; ++a)
      for (int b = taps[1].begin; b < taps[1].end; ++b) {
        const int line = (first[0] + a * dilations[0]) * x.at[1] + first[1] + b * dilations[1];
        for (int c = taps[2].begin; c < taps[2].end; ++c)
          use(line * x.at[2] + first[2] + c * dilations[2], (a * kernel[1] + b) * kernel[2] + c);
      }
  }

  /// Calls use(result's position, its number in a plane of y, tap) for the windows that hold this
  /// position of x, in ascending order of taps and so in descending order of results.
  template <typename Use>
  SYNCLINE_HOST_DEVICE void forEachResult(const int (&input)[3], const Use &use) const {
    Range over[3];
    for (int d = 0; d < 3; ++d)
      over[d] = resultsOver(d, input[d]);
    int at[3], taps[3];
    for (at[0] = over[0].end; at[0]-- > over[0].begin;)
      if ((taps[0] = tapAt(0, at[0], input[0])) >= 0)
        for (at[1] = over[1].end; at[1]-- > over[1].begin;)
          if ((taps[1] = tapAt(1, at[1], input[1])) >= 0)
            for (at[2] = over[2].end; at[2]-- > over[2].begin;)
              if ((taps[2] = tapAt(2, at[2], input[2])) >= 0)
                use(at, (at[0] * y.at[1] + at[1]) * y.at[2] + at[2],
                    (taps[0] * kernel[1] + taps[1]) * kernel[2] + taps[2]);
  }

  /// The divisor of an average.
  SYNCLINE_HOST_DEVICE float divisor(const int (&result)[3]) const {
    int inside = taps();
    if (!countsPadding) {
      inside = 1;
      for (int d = 0; d < 3; ++d) {
        const Range taps = tapsIn(d, result[d]);
        inside *= taps.end - taps.begin;
      }
    }
    return static_cast<float>(inside);
  }

private:
  /// Precondition: `number` is not negative.
  SYNCLINE_HOST_DEVICE static int divide(const Divisor &by, int number) {
    return static_cast<int>(by.quotient(static_cast<std::uint32_t>(number)));
  }
  /// Rounds up; 0 for negative numbers.
  SYNCLINE_HOST_DEVICE static int divideUp(const Divisor &by, int number) {
    return number <= 0 ? 0 : divide(by, number - 1) + 1;
  }
};

/// Makes the map for tensors x and y with dimensions N C spatial... Preconditions: at most three
/// spatial dimensions; every window holds an element of x; tensors have less than 2^31 elements.
inline PoolMap poolMap(const Shape &x, const Shape &y, const Window &window, bool isChannelsLast) {
  PoolMap map;
  map.inner = isChannelsLast ? static_cast<int>(x[1]) : 1;
  map.isGlobal = true;
  const auto by = [](int number) { return Divisor(static_cast<std::uint32_t>(number)); };
  const std::size_t spatial = window.kernel.size();
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::size_t d = 3 - spatial + i;
    map.x.at[d] = static_cast<int>(x[i + 2]);
    map.y.at[d] = static_cast<int>(y[i + 2]);
    map.kernel[d] = static_cast<int>(window.kernel[i]);
    map.strides[d] = static_cast<int>(window.strides[i]);
    map.dilations[d] = static_cast<int>(window.dilations[i]);
    map.begins[d] = static_cast<int>(window.padsBegin[i]);
    map.x.by[d] = by(map.x.at[d]);
    map.y.by[d] = by(map.y.at[d]);
    map.byStride[d] = by(map.strides[d]);
    map.byDilation[d] = by(map.dilations[d]);
    map.isGlobal &=
        map.y.at[d] == 1 && map.dilations[d] == 1 && map.kernel[d] - map.begins[d] >= map.x.at[d];
  }
  map.byInner = by(map.inner);
  map.byPlanes = by(map.inner * map.x.positions());
  map.countsPadding = window.countIncludePad;
  return map;
}

} // namespace syncline::cuda
