// Index arithmetic of the backend's kernels, for device and host, so that tests without a device
// can check every index.
//
// Indices have 32 bits, because a tensor has at most 2^31 - 1 elements (Preparation checks it).
// Offsets have 64 bits, because strides may be negative. Maps are passed to kernels by value.
#pragma once

#include "runtime/core/Combine.h"
#include "runtime/core/HostDevice.h"
#include "runtime/core/Strides.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace syncline::cuda {

inline constexpr int maxLoops = 8;

/// Finds the offset of an element of a walk by its number in row-major order.
struct IndexWalk {
  int loops = 0;
  std::uint32_t extents[maxLoops] = {};
  std::int64_t strides[maxLoops] = {};

  SYNCLINE_HOST_DEVICE std::int64_t offset(std::uint32_t number) const {
    std::int64_t at = 0;
    for (int l = loops; l-- > 0;) {
      const std::uint32_t rest = number / extents[l];
      at += static_cast<std::int64_t>(number - rest * extents[l]) * strides[l];
      number = rest;
    }
    return at;
  }
};

/// Two walks over the same indices.
struct CopyMap {
  int loops = 0;
  std::uint32_t count = 1;
  std::uint32_t extents[maxLoops] = {};
  std::int64_t to[maxLoops] = {}, from[maxLoops] = {};

  SYNCLINE_HOST_DEVICE void locate(std::uint32_t number, std::int64_t &toAt,
                                   std::int64_t &fromAt) const {
    toAt = fromAt = 0;
    for (int l = loops; l-- > 0;) {
      const std::uint32_t rest = number / extents[l];
      const std::int64_t digit = number - rest * extents[l];
      toAt += digit * to[l];
      fromAt += digit * from[l];
      number = rest;
    }
  }
};

/// The map of a copy, or nothing when there are more loops than a map holds.
std::optional<CopyMap> copyMap(const std::vector<core::CopyLoop> &loops);

/// Joins neighbouring elements of a copy into words of up to 16 bytes, as far as the loops and
/// `alignment` (a power of two that divides both addresses) allow. The loops then count words.
/// Returns the bytes of a word.
int widen(std::vector<core::CopyLoop> &loops, int elementBytes, std::uint64_t alignment);

/// A reduction. `kept` gives the start of each result's terms, and the result combines those of
/// `reduced` from there.
struct ReduceMap {
  std::uint32_t results = 1, terms = 1;
  IndexWalk kept, reduced;
  bool isAlongRows = false; ///< neighbours in memory are terms of one result
};

/// The reduction of a tensor with these strides, or nothing when there are more loops than a
/// map holds.
std::optional<ReduceMap> reduceMap(const Shape &shape, const Shape &strides, const Shape &axes);

/// The first term of part `part`, when `terms` terms are cut into `parts` parts.
SYNCLINE_HOST_DEVICE inline std::uint32_t partBegin(std::uint32_t terms, std::uint32_t parts,
                                                    std::uint32_t part) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(terms) * part / parts);
}

/// Combines x over the terms first, first + step, .. below last, in this order.
template <typename Combination, typename T>
SYNCLINE_HOST_DEVICE inline double combineTerms(const T *x, const ReduceMap &map,
                                                std::uint32_t result, std::uint32_t first,
                                                std::uint32_t last, std::uint32_t step) {
  const T *from = x + map.kept.offset(result);
  double own = Combination::start;
  for (std::uint64_t term = first; term < last; term += step)
    own = Combination::combine(
        own, static_cast<float>(from[map.reduced.offset(static_cast<std::uint32_t>(term))]));
  return own;
}

} // namespace syncline::cuda
