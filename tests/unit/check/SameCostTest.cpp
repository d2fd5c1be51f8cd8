// When two numbers of problems are the same.
#include "passes/check/SameCost.h"

#include <gtest/gtest.h>

#include <limits>

namespace syncline::check {
namespace {

TEST(SameCost, IsUpToRounding) {
  EXPECT_FALSE(differ(0, 0));
  EXPECT_FALSE(differ(1, 1 + 1e-10));
  EXPECT_TRUE(differ(1, 1 + 1e-8));
  EXPECT_TRUE(differ(0, 1e-12));
}

// Whoever compares such a claim with what it should be has to refuse it.
TEST(SameCost, WhatIsNotFiniteIsTheSameAsNothing) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (double odd : {infinite, -infinite, std::numeric_limits<double>::quiet_NaN()})
    for (double other : {0.0, 1.0, odd}) {
      EXPECT_TRUE(differ(odd, other)) << odd << " and " << other;
      EXPECT_TRUE(differ(other, odd)) << other << " and " << odd;
    }
}

} // namespace
} // namespace syncline::check
