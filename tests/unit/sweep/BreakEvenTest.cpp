// Where efficiency passes a threshold, against functions whose crossing is known.
#include "frontend/sweep/BreakEven.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace syncline::sweep;
using Kind = SweepAxis::Kind;

namespace {

using Share = std::function<std::optional<double>(double)>;

std::optional<BreakEven> found(Kind kind, std::vector<double> values, const Share &share,
                               double threshold = 0.9, int devicesPerNode = 1) {
  std::vector<KnownShare> points;
  for (double value : values)
    points.push_back({value, *share(value)});
  return findBreakEven({kind, values.front(), values.back()}, devicesPerNode, threshold, points,
                       share);
}

/// Above 0.9 beyond 78.
std::optional<double> growing(double value) { return value / (value + 78.0 / 9); }
/// Above 0.9 below 100.
std::optional<double> falling(double value) { return 1 / (1 + value / 900); }

} // namespace

TEST(BreakEvenTest, BisectsAContinuousAxis) {
  const std::optional<BreakEven> from = found(Kind::bandwidth, {1, 8, 64, 512}, growing);
  ASSERT_TRUE(from);
  EXPECT_EQ(from->kind, BreakEven::Kind::from);
  EXPECT_GT(*growing(from->at), 0.9); // what is said holds at the value that is named
  EXPECT_NEAR(from->at / 78, 1, 0.005);
  const std::optional<BreakEven> upTo = found(Kind::latency, {1, 8, 64, 512}, falling);
  ASSERT_TRUE(upTo);
  EXPECT_EQ(upTo->kind, BreakEven::Kind::upTo);
  EXPECT_GT(*falling(upTo->at), 0.9);
  EXPECT_NEAR(upTo->at / 100, 1, 0.005);
}

// Counts are found to the unit, and ranks beyond a node to the node.
TEST(BreakEvenTest, BisectsWholeNumbers) {
  EXPECT_EQ(found(Kind::ranks, {1, 16, 256}, falling)->at, 99);
  EXPECT_EQ(found(Kind::ranks, {8, 64, 256}, falling, 0.9, 8)->at, 96);
  EXPECT_EQ(found(Kind::batch, {1, 128}, growing)->at, 79);
  EXPECT_EQ(found(Kind::ranks, {1, 2}, [](double v) { return 1 / v; })->at, 1);
}

TEST(BreakEvenTest, NeverAndEverywhere) {
  const std::optional<BreakEven> never = found(Kind::bandwidth, {1, 8, 64}, growing);
  EXPECT_EQ(never->kind, BreakEven::Kind::never);
  EXPECT_EQ(never->best, 64);
  EXPECT_DOUBLE_EQ(never->share, *growing(64));
  const std::optional<BreakEven> everywhere = found(Kind::bandwidth, {100, 800}, growing);
  EXPECT_EQ(everywhere->kind, BreakEven::Kind::everywhere);
  EXPECT_EQ(everywhere->best, 100);
  EXPECT_DOUBLE_EQ(everywhere->share, *growing(100));
  // A value that equals the threshold is not above it.
  EXPECT_EQ(found(Kind::slow, {1, 2}, [](double) { return 0.9; })->kind, BreakEven::Kind::never);
}

TEST(BreakEvenTest, SaysWhatIsNotMonotone) {
  const Share hump = [](double value) { return value == 4 ? 0.95 : 0.5; };
  EXPECT_EQ(found(Kind::bandwidth, {1, 2, 4, 8}, hump)->kind, BreakEven::Kind::notMonotone);
  const Share dip = [](double value) { return value == 4 ? 0.5 : 0.95; };
  EXPECT_EQ(found(Kind::bandwidth, {1, 2, 4, 8}, dip)->kind, BreakEven::Kind::notMonotone);
}

// It stops at the nearest value that is known.
TEST(BreakEvenTest, StopsWhereNothingIsKnown) {
  int asked = 0;
  const KnownShare points[] = {{1, 0.5}, {100, 0.95}};
  const auto found = findBreakEven({Kind::bandwidth, 1, 100}, 1, 0.9, points,
                                   [&](double) -> std::optional<double> {
                                     ++asked;
                                     return std::nullopt;
                                   });
  EXPECT_EQ(found->at, 100);
  EXPECT_EQ(asked, 1);
}

TEST(BreakEvenTest, SaysNothingOfNamesAndTheUnknown) {
  const Share any = [](double value) { return value; };
  EXPECT_FALSE(found(Kind::overlap, {0.5, 1}, any));
  EXPECT_FALSE(found(Kind::planner, {0.5, 1}, any));
  EXPECT_FALSE(found(Kind::batch, {1, 2}, [](double) { return 0; }));
  EXPECT_FALSE(findBreakEven({Kind::batch, 1, 2}, 1, 0.9, {}, any));
}
