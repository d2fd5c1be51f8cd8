// The order in which topK takes the elements of a row.
#pragma once

#include "runtime/core/HostDevice.h"

#include <cstdint>

namespace syncline::core {

/// Whether a at place i comes before b at place j: larger ones first, or smaller ones, and of equal
/// ones the first. NaN is larger than every number.
SYNCLINE_HOST_DEVICE inline bool comesBefore(float a, std::int64_t i, float b, std::int64_t j,
                                             bool largest) {
  const bool isLarger = a > b || (a != a && b == b), isSmaller = a < b || (a == a && b != b);
  if (isLarger || isSmaller)
    return isLarger == largest;
  return i < j;
}

} // namespace syncline::core
