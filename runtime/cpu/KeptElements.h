// Selecting between an updated and an old element without a branch, so that loops vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace syncline::cpu {

/// `now` where `mask` has all bits, `old` where it has none. The operator ?: would become a branch
/// and would not vectorise.
inline float chosen(std::uint32_t mask, float now, float old) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(now) & mask) |
                              (std::bit_cast<std::uint32_t>(old) & ~mask));
}

/// All bits where the value is finite: only then value - value is 0.
inline std::uint32_t finiteMask(float value) { return value - value == 0 ? ~std::uint32_t{0} : 0; }

} // namespace syncline::cpu
