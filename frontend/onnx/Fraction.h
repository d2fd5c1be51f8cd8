// Exact ratios of sizes.
#pragma once

#include <cstdint>

namespace syncline::frontend {

/// above / below, both positive.
struct Fraction {
  std::int64_t above = 1, below = 1;
};

Fraction reduced(Fraction fraction);

/// Precondition: all numbers are below 2^31.
inline bool isLess(Fraction a, Fraction b) { return a.above * b.below < b.above * a.below; }

/// The fraction that the number may have been before it was rounded: 4/3 for 1.3333334, as long as
/// both numbers are below 1,000; else a decimal of up to six digits, as a user writes it; else the
/// fraction with the smallest numbers. Precondition: the number lies within 2^-30 and 2^30.
Fraction fractionOf(float number);

} // namespace syncline::frontend
