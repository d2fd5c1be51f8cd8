// Sums of every element type, the half types bit by bit against arithmetic in double.
#include "runtime/transport/collectives/Sum.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace syncline {
namespace {

/// Value of a small float format with 1 sign bit, by definition.
double valueOf(std::uint16_t bits, int exponentBits, int fractionBits) {
  int bias = (1 << (exponentBits - 1)) - 1, top = (1 << exponentBits) - 1;
  int exponent = bits >> fractionBits & top, fraction = bits & ((1 << fractionBits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == top)
    return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(fraction, 1 - bias - fractionBits);
  return sign * std::ldexp(fraction + (1 << fractionBits), exponent - bias - fractionBits);
}

/// Nearest value of the format, ties to an even fraction, by looking at all of them.
std::uint16_t nearest(double value, int exponentBits, int fractionBits) {
  auto overflow = static_cast<std::uint16_t>(((1 << exponentBits) - 1) << fractionBits);
  double largest = valueOf(overflow - 1, exponentBits, fractionBits);
  double halfStep = (largest - valueOf(overflow - 2, exponentBits, fractionBits)) / 2;
  if (std::abs(value) >= largest + halfStep)
    return overflow | (value < 0 ? 0x8000 : 0);
  std::uint16_t low = 0, high = overflow - 1;
  while (high - low > 1) {
    std::uint16_t middle = low + (high - low) / 2;
    (valueOf(middle, exponentBits, fractionBits) <= std::abs(value) ? low : high) = middle;
  }
  double below = std::abs(value) - valueOf(low, exponentBits, fractionBits);
  double above = valueOf(high, exponentBits, fractionBits) - std::abs(value);
  std::uint16_t pick = below < above || (below == above && low % 2 == 0) ? low : high;
  return pick | (std::signbit(value) ? 0x8000 : 0);
}

void checkHalf(ElementType type, int exponentBits, int fractionBits) {
  std::vector<std::uint16_t> samples;
  for (unsigned bits = 0; bits < 65536; bits += 97)
    samples.push_back(static_cast<std::uint16_t>(bits));
  for (std::uint16_t a : samples) {
    std::vector<std::uint16_t> sum(samples.size(), a);
    ASSERT_TRUE(transport::addInto(type, sum.data(), samples.data(), samples.size()));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      double exact =
          valueOf(a, exponentBits, fractionBits) + valueOf(samples[i], exponentBits, fractionBits);
      if (std::isnan(exact)) {
        ASSERT_TRUE(std::isnan(valueOf(sum[i], exponentBits, fractionBits)));
        continue;
      }
      // The sum in f32 is the definition; rounding twice is part of it.
      double inF32 = static_cast<float>(valueOf(a, exponentBits, fractionBits)) +
                     static_cast<float>(valueOf(samples[i], exponentBits, fractionBits));
      ASSERT_EQ(sum[i], nearest(inF32, exponentBits, fractionBits)) << a << " + " << samples[i];
    }
  }
}

// f16: every exponent, subnormals, infinities and NaN add as f32 and round to nearest even.
TEST(Sum, HalfPrecision) { checkHalf(ElementType::f16, 5, 10); }

// bf16 likewise.
TEST(Sum, Bfloat16) { checkHalf(ElementType::bf16, 8, 7); }

// Lengths that are no multiple of a vector are summed to the last element and not beyond.
TEST(Sum, OddLengths) {
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<float> into(n + 1, 1), from(n + 1);
    for (std::size_t i = 0; i <= n; ++i)
      from[i] = static_cast<float>(i);
    ASSERT_TRUE(transport::addInto(ElementType::f32, into.data(), from.data(), n));
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(into[i], 1 + static_cast<float>(i));
    ASSERT_EQ(into[n], 1);
  }
}

// Nothing sums bytes.
TEST(Sum, RefusesBytes) { EXPECT_FALSE(transport::addInto(ElementType::u8, nullptr, nullptr, 0)); }

} // namespace
} // namespace syncline
