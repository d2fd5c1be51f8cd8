// Functions for vectors are as exact as rounding to float allows, over all floats.
#include "syncline/VectorMath.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace syncline {
namespace {

using Function = double (*)(double);

/// The largest error, relative to the value, of `function` over every 997th float whose value is a
/// normal float.
template <typename Tested> double largestError(const Tested &function, Function exact) {
  double largest = 0;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 997) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const double value = exact(x), size = std::fabs(value);
    if (size >= std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max())
      largest = std::max(largest, std::fabs(function(x) - value) / size);
  }
  return largest;
}

constexpr double halfUnit = 0x1p-24;

TEST(VectorMathTest, ExponentialIsOffByRounding) {
  EXPECT_LT(largestError([](float x) { return exponential(x); }, std::exp), 1.01 * halfUnit);
}

TEST(VectorMathTest, ErrorFunctionIsOffByRounding) {
  EXPECT_LT(largestError([](float x) { return errorFunction(x); }, std::erf), 1.05 * halfUnit);
}

TEST(VectorMathTest, HyperbolicTangentIsOffByRounding) {
  EXPECT_LT(largestError([](float x) { return hyperbolicTangent(x); }, std::tanh), 1.06 * halfUnit);
}

TEST(VectorMathTest, EndsOfRangesAreThoseOfTheLibrary) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {-infinity, -1000.0f, -104.0f, -100.0f, 89.0f, 1000.0f, infinity, 0.0f,
                        -0.0f, 1e-40f, -1e-40f}) {
    EXPECT_EQ(exponential(x), static_cast<float>(std::exp(static_cast<double>(x)))) << x;
    EXPECT_EQ(std::signbit(errorFunction(x)), std::signbit(x)) << x;
    EXPECT_EQ(std::signbit(hyperbolicTangent(x)), std::signbit(x)) << x;
    EXPECT_NEAR(hyperbolicTangent(x), std::tanh(x), 1e-45) << x;
    EXPECT_NEAR(errorFunction(x), std::erf(x), 1e-45) << x;
  }
  EXPECT_TRUE(std::isnan(exponential(NAN)) && std::isnan(errorFunction(NAN)));
  EXPECT_TRUE(std::isnan(hyperbolicTangent(NAN)));
  EXPECT_TRUE(std::isnan(exponential(-NAN)) && std::isnan(errorFunction(-NAN)));
}

} // namespace
} // namespace syncline
