// Pooling forward and backward, for device and host.
#pragma once

#include "runtime/cuda/kernels/Pack.h"
#include "runtime/cuda/kernels/PoolMap.h"

namespace syncline::cuda {

// A call computes `width` neighbouring elements, which lie in `width` neighbouring planes. They
// share a position, whose arithmetic costs more than the elements' computation. The first element
// is number · width. Precondition: `width` divides map.inner, or is 1.

/// Computes elements of y. As in PyTorch, the first of equal maxima counts, or the last NaN if
/// there is one. The workspace receives the taps of the maxima.
template <int width = 1, typename T, typename Tap>
SYNCLINE_HOST_DEVICE inline void maxPoolAt(const PoolMap &map, const T *x, T *y, Tap *workspace,
                                           std::uint32_t number) {
  const PoolMap::Element result = map.element(number * width, map.y);
  const T *from = x + result.begin(map, map.x.positions());
  float best[width] = {};
  int bestTap[width];
  for (int &tap : bestTap)
    tap = -1;
  map.forEachTap(result.position, [&](int at, int tap) {
    const auto values = loadPack<width>(from + static_cast<std::uint32_t>(at * map.inner));
    for (int k = 0; k < width; ++k) {
      const float value = values.at[k];
      // `|` and `&` avoid a branch for each plane.
      const bool isBetter = (bestTap[k] < 0) | (value > best[k]) | (value != value);
      if (isBetter) {
        best[k] = value;
        bestTap[k] = tap;
      }
    }
  });
  Pack<T, width> maxima;
  Pack<Tap, width> taps;
  for (int k = 0; k < width; ++k) {
    maxima.at[k] = static_cast<T>(best[k]);
    taps.at[k] = static_cast<Tap>(bestTap[k]);
  }
  storePack(y + number * width, maxima);
  storePack(workspace + number * width, taps);
}

/// Converts the sums to elements of a tensor.
template <typename T, int width>
SYNCLINE_HOST_DEVICE inline void storeSums(T *to, const float (&sums)[width]) {
  Pack<T, width> pack;
  for (int k = 0; k < width; ++k)
    pack.at[k] = static_cast<T>(sums[k]);
  storePack(to, pack);
}

/// Computes elements of dx: the sum of dy over the windows whose maximum is the element.
template <int width = 1, typename T, typename Tap>
SYNCLINE_HOST_DEVICE inline void maxPoolBackwardAt(const PoolMap &map, const T *dy,
                                                   const Tap *workspace, T *dx,
                                                   std::uint32_t number) {
  const PoolMap::Element input = map.element(number * width, map.x);
  const std::uint32_t begin = input.begin(map, map.y.positions());
  float sums[width] = {};
  map.forEachResult(input.position, [&](const int(&)[3], int at, int tap) {
    const std::uint32_t place = begin + static_cast<std::uint32_t>(at * map.inner);
    // Both packs are loaded at once, because neighbours of a chosen element are needed too.
    const auto chosen = loadPack<width>(workspace + place);
    const auto gradients = loadPack<width>(dy + place);
    for (int k = 0; k < width; ++k)
      if (chosen.at[k] == static_cast<Tap>(tap))
        sums[k] += gradients.at[k];
  });
  storeSums(dx + number * width, sums);
}

/// Elements of y.
template <int width = 1, typename T>
SYNCLINE_HOST_DEVICE inline void averagePoolAt(const PoolMap &map, const T *x, T *y,
                                               std::uint32_t number) {
  const PoolMap::Element result = map.element(number * width, map.y);
  const T *from = x + result.begin(map, map.x.positions());
  double sums[width] = {}; // a window may be a whole image
  map.forEachTap(result.position, [&](int at, int) {
    const auto values = loadPack<width>(from + static_cast<std::uint32_t>(at * map.inner));
    for (int k = 0; k < width; ++k)
      sums[k] += static_cast<double>(values.at[k]);
  });
  const auto divisor = static_cast<double>(map.divisor(result.position));
  float means[width];
  for (int k = 0; k < width; ++k)
    means[k] = static_cast<float>(sums[k] / divisor);
  storeSums(y + number * width, means);
}

/// Elements of dx.
template <int width = 1, typename T>
SYNCLINE_HOST_DEVICE inline void averagePoolBackwardAt(const PoolMap &map, const T *dy, T *dx,
                                                       std::uint32_t number) {
  float sums[width] = {};
  const auto add = [&](std::uint32_t place, float divisor) {
    const auto gradients = loadPack<width>(dy + place);
    for (int k = 0; k < width; ++k)
      sums[k] += gradients.at[k] / divisor;
  };
  if (map.isGlobal) { // one result, wherever the element lies
    std::uint32_t plane = number * width;
    const std::uint32_t outer = map.byPlanes.quotient(plane);
    plane = map.byInner.split(plane);
    add(outer * map.byInner.value() + plane, map.divisor({0, 0, 0}));
  } else {
    const PoolMap::Element input = map.element(number * width, map.x);
    const std::uint32_t begin = input.begin(map, map.y.positions());
    map.forEachResult(input.position, [&](const int(&result)[3], int at, int) {
      add(begin + static_cast<std::uint32_t>(at * map.inner), map.divisor(result));
    });
  }
  storeSums(dx + number * width, sums);
}

} // namespace syncline::cuda
