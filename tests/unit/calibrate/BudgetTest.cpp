// Time goes to the shortest messages first, and what is left to all.
#include "runtime/calibrate/Budget.h"

#include <gtest/gtest.h>
#include <vector>

namespace syncline::calibrate {
namespace {

TEST(Budget, LongestSizesAreLeftOut) {
  const std::vector<double> costs{1, 2, 4, 8};
  EXPECT_EQ(allot(costs, 20).sizes, 4);
  EXPECT_DOUBLE_EQ(allot(costs, 20).spare, 5);
  EXPECT_EQ(allot(costs, 10).sizes, 3);
  EXPECT_DOUBLE_EQ(allot(costs, 10).spare, 3);
  EXPECT_EQ(allot(costs, 0.5).sizes, 0);
  EXPECT_DOUBLE_EQ(allot(costs, -1).spare, 0);
}

// A size behind one that does not fit is not measured, were it cheaper.
TEST(Budget, NoGaps) {
  const std::vector<double> costs{1, 8, 2};
  EXPECT_EQ(allot(costs, 5).sizes, 1);
}

// Fewer repetitions of long messages, and windows of milliseconds for short ones.
TEST(Budget, LeastCosts) {
  EXPECT_DOUBLE_EQ(minCost(1e-6), minCost(1e-3));
  EXPECT_GT(minCost(1e-6), 5 * 9e-3);
  EXPECT_NEAR(minCost(0.5), 1.65, 1e-9);
  EXPECT_LT(minCost(longMessage), minCost(0.99 * longMessage));
}

// Stages before use up their part of the time, or take more.
TEST(Budget, TimeForAStage) {
  EXPECT_DOUBLE_EQ(timeFor(3, {0.25, 0.5}, 2), 12);
  EXPECT_DOUBLE_EQ(timeFor(3, {0.25, 0.5}, 4), 14);
}

} // namespace
} // namespace syncline::calibrate
