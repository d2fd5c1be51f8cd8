// Curves: between the points, without falls, jumps.
#include "runtime/calibrate/Curve.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace syncline::calibrate {
namespace {

TEST(Curve, InterpolatesAsClusterFilesDo) {
  const Curve curve{{10, 1}, {20, 3}, {40, 4}};
  EXPECT_DOUBLE_EQ(interpolate(curve, 5), 1);
  EXPECT_DOUBLE_EQ(interpolate(curve, 15), 2);
  EXPECT_DOUBLE_EQ(interpolate(curve, 40), 4);
  EXPECT_DOUBLE_EQ(interpolate(curve, 80), 6);
}

TEST(Curve, RisingCurvesStayAsTheyAre) {
  const Curve curve{{1, 1}, {2, 1}, {3, 4}};
  const Curve same = nondecreasing(curve);
  ASSERT_EQ(same.size(), 3u);
  for (int i = 0; i < 3; ++i)
    EXPECT_DOUBLE_EQ(same[i].seconds, curve[i].seconds);
}

TEST(Curve, NeighboursThatFallArePooled) {
  const Curve pooled = nondecreasing({{1, 1}, {2, 4}, {3, 1}, {4, 9}});
  ASSERT_EQ(pooled.size(), 4u);
  EXPECT_DOUBLE_EQ(pooled[0].seconds, 1);
  EXPECT_DOUBLE_EQ(pooled[1].seconds, 2);
  EXPECT_DOUBLE_EQ(pooled[2].seconds, 2);
  EXPECT_DOUBLE_EQ(pooled[3].seconds, 9);
}

TEST(Curve, OneOutlierDoesNotLiftItsPool) {
  const Curve pooled = nondecreasing({{1, 100}, {2, 1}, {3, 1.1}, {4, 5}});
  EXPECT_DOUBLE_EQ(pooled[0].seconds, 1.1);
  EXPECT_DOUBLE_EQ(pooled[2].seconds, 1.1);
}

// Where two points fall, the one with the greater weight decides.
TEST(Curve, CertainPointsDecide) {
  const Curve fall{{1, 1}, {2, 8}, {3, 2}, {4, 9}};
  EXPECT_DOUBLE_EQ(nondecreasing(fall, {1, 1, 5, 1})[1].seconds, 2);
  EXPECT_DOUBLE_EQ(nondecreasing(fall, {1, 5, 1, 1})[2].seconds, 8);
  EXPECT_DOUBLE_EQ(nondecreasing(fall, {1, 1, 1, 1})[1].seconds, 4);
}

// After the last point a reader goes on with the last line, which must not be level.
TEST(Curve, RisesToTheEnd) {
  const Curve pooled = nondecreasing({{1, 1}, {2, 4}, {3, 4}, {4, 3.9}});
  ASSERT_EQ(pooled.size(), 2u);
  EXPECT_EQ(pooled.back().bytes, 4);
  EXPECT_GT(pooled.back().seconds, pooled.front().seconds);
}

// Ten thousand noisy curves: sizes ascend, times never fall, and stay among the measured ones.
TEST(Curve, NeverFalls) {
  std::mt19937 random(2);
  std::lognormal_distribution<double> noise(0, 0.5);
  for (int trial = 0; trial < 10000; ++trial) {
    Curve curve;
    for (int i = 1; i <= 12; ++i)
      curve.push_back({i, i * noise(random)});
    const auto [least, most] = std::minmax_element(
        curve.begin(), curve.end(), [](auto &a, auto &b) { return a.seconds < b.seconds; });
    const Curve result = nondecreasing(curve);
    EXPECT_EQ(result.back().bytes, 12);
    for (std::size_t i = 0; i < result.size(); ++i) {
      EXPECT_GE(result[i].seconds, least->seconds);
      EXPECT_LE(result[i].seconds, most->seconds);
      if (i > 0) {
        EXPECT_GT(result[i].bytes, result[i - 1].bytes);
        EXPECT_GE(result[i].seconds, result[i - 1].seconds);
      }
    }
  }
}

// A protocol that changes at 64 bytes: that step, and no other, is told of.
TEST(Curve, FindsTheJump) {
  Curve curve;
  for (int bytes = 16; bytes <= 256; bytes += 16)
    curve.push_back({bytes, (bytes > 64 ? 2.0 : 1.0) * (10 + bytes)});
  const auto jumps = findJumps(curve, [](double bytes) { return 10 + bytes; }, 0.25);
  ASSERT_EQ(jumps.size(), 1u);
  EXPECT_EQ(jumps[0].before, 64);
  EXPECT_EQ(jumps[0].after, 80);
  EXPECT_DOUBLE_EQ(jumps[0].factor, 2);
}

} // namespace
} // namespace syncline::calibrate
