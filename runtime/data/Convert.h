// Converting array elements between types.
#pragma once

#include "syncline/Step.h"

#include <cstddef>
#include <cstdint>

namespace syncline::data {

/// Writes `count` elements of type `fromType` as elements of type `toType`. Values go through
/// double: integers beyond 2^53 are rounded. The arrays need no alignment and do not overlap.
void convert(const std::byte *from, ElementType fromType, std::int64_t count, std::byte *to,
             ElementType toType);

} // namespace syncline::data
