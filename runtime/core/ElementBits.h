// Converting a number to an element of any type.
#pragma once

#include "syncline/Step.h"

#include <cstdint>

namespace syncline::core {

/// The bytes of `value` converted to the type (halves rounded to the nearest), in the lowest
/// elementBytes(type) bytes.
std::uint64_t elementBits(ElementType type, double value);

} // namespace syncline::core
