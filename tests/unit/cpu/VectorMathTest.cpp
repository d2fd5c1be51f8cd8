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

/// The largest error of `function` over every 997th float whose value is one, in halves of the
/// distance to the next float. An exact value that is rounded is off by 1 at most.
template <typename Tested> double largestError(const Tested &function, Function exact) {
  double largest = 0;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 997) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const double value = exact(x), size = std::fabs(value);
    if (!(size <= std::numeric_limits<float>::max()))
      continue;
    const int exponent = std::ilogb(std::max<double>(size, std::numeric_limits<float>::min()));
    largest = std::max(largest, std::fabs(function(x) - value) / std::ldexp(1, exponent - 24));
  }
  return largest;
}

TEST(VectorMathTest, ExponentialIsOffByRounding) {
  EXPECT_LT(largestError([](float x) { return exponential(x); }, std::exp), 1.01);
}

TEST(VectorMathTest, ErrorFunctionIsOffByRounding) {
  EXPECT_LT(largestError([](float x) { return errorFunction(x); }, std::erf), 1.1);
}

TEST(VectorMathTest, HyperbolicTangentIsOffByRounding) {
  EXPECT_LT(largestError([](float x) { return hyperbolicTangent(x); }, std::tanh), 1.06);
}

/// Calls body(x) for floats of both signs whose sizes go from `first` to `last`.
template <typename Body> void eachFloat(float first, float last, const Body &body) {
  const auto begin = std::bit_cast<std::uint32_t>(first), end = std::bit_cast<std::uint32_t>(last);
  for (std::uint32_t bits = begin; bits <= end; bits += (end - begin) / 100000 + 1) {
    body(std::bit_cast<float>(bits));
    body(-std::bit_cast<float>(bits));
  }
}

constexpr float most = std::numeric_limits<float>::max();

// The largest float is e^88.722839; the next float beyond that logarithm gives infinity.
TEST(VectorMathTest, ExponentialOverflowsBehindTheLargestFloat) {
  const float last = 0x1.62e42ep6f, beyond = std::nextafter(last, 100.0f);
  EXPECT_EQ(exponential(last), static_cast<float>(std::exp(double{last})));
  EXPECT_TRUE(std::isfinite(exponential(last)));
  eachFloat(beyond, most, [](float x) {
    if (x > 0) {
      ASSERT_TRUE(std::isinf(exponential(x))) << x;
    }
  });
  eachFloat(104, most, [](float x) {
    if (x < 0) {
      ASSERT_EQ(exponential(x), 0) << x;
    }
  });
}

// A value above 1 would turn the logarithm or square root of 1 - y into NaN.
TEST(VectorMathTest, ErrorFunctionAndHyperbolicTangentEndAtOne) {
  for (const float last : {5.0f, 20.0f, most})
    eachFloat(3, last, [](float x) {
      ASSERT_LE(std::fabs(errorFunction(x)), 1) << x;
      ASSERT_LE(std::fabs(hyperbolicTangent(x)), 1) << x;
      if (std::fabs(x) >= 4) {
        ASSERT_EQ(errorFunction(x), std::copysign(1.0f, x));
      }
      if (std::fabs(x) >= 10) {
        ASSERT_EQ(hyperbolicTangent(x), std::copysign(1.0f, x));
      }
    });
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
