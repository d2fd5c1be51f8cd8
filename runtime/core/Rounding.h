// Arrays of f32 in one of the two 16-bit formats.
#pragma once

#include "syncline/Step.h"

#include <cstdint>

namespace syncline::core {

/// to[i] = from[i] for n elements. `type` is bf16 or f16, here and below. Arrays do not overlap.
void widen(ElementType type, const std::uint16_t *from, float *to, std::int64_t n);
/// Rounds to the nearest, ties to even. NaN stays NaN; what is too large becomes infinite.
void narrow(ElementType type, const float *from, std::uint16_t *to, std::int64_t n);
/// Gives n values what narrow() and widen() leave of them.
void roundOff(ElementType type, float *values, std::int64_t n);

} // namespace syncline::core
