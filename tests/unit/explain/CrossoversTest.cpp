// From where on a choice is another one.
#include "passes/explain/Crossovers.h"

#include <gtest/gtest.h>

#include <limits>

using namespace syncline::explain;

namespace {

/// Says 'x' at and above a value, 'w' at and below another.
std::function<std::optional<char>(double)> changesAt(double above, double below) {
  return [=](double value) -> std::optional<char> {
    if (value >= above)
      return 'x';
    return value <= below ? std::optional('w') : std::nullopt;
  };
}

} // namespace

TEST(Crossovers, GridDoublesUpToTheEnd) {
  const Range range{.planned = 3, .least = 1, .most = 20};
  EXPECT_EQ(gridOf(range, true), (std::vector<double>{6, 12, 20}));
  EXPECT_EQ(gridOf(range, false), (std::vector<double>{1.5, 1}));
}

TEST(Crossovers, GridTakesLargerSteps) {
  const Range range{.planned = 2, .least = 1, .most = 1000, .factor = 8};
  EXPECT_EQ(gridOf(range, true), (std::vector<double>{16, 128, 1000}));
  EXPECT_EQ(gridOf(range, false), (std::vector<double>{1}));
}

TEST(Crossovers, GridOfCountsIsWhole) {
  const Range range{.planned = 5, .least = 1, .most = 11, .step = 1};
  EXPECT_EQ(gridOf(range, true), (std::vector<double>{10, 11}));
  EXPECT_EQ(gridOf(range, false), (std::vector<double>{2, 1}));
}

TEST(Crossovers, NoGridWhereAnEndIsNoNumber) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const Range range{.planned = 2, .least = none, .most = none};
  EXPECT_TRUE(gridOf(range, true).empty());
  EXPECT_TRUE(gridOf(range, false).empty());
}

TEST(Crossovers, NoGridWhereThereIsNoRange) {
  const Range range{.planned = 2, .least = 2, .most = 2};
  EXPECT_TRUE(gridOf(range, true).empty());
  EXPECT_TRUE(gridOf(range, false).empty());
}

// The first whole number at which the choice differs, wherever it lies.
TEST(Crossovers, FindsCountsExactly) {
  for (double above = 9; above <= 100; ++above) {
    const Range range{.planned = 8, .least = 1, .most = 100, .step = 1};
    const Crossovers<char> crossovers = findCrossovers<char>(range, changesAt(above, 3));
    ASSERT_TRUE(crossovers.above && crossovers.below);
    EXPECT_EQ(crossovers.above->at, above);
    EXPECT_EQ(crossovers.above->choice, 'x');
    EXPECT_EQ(crossovers.below->at, 3);
    EXPECT_EQ(crossovers.below->choice, 'w');
  }
}

TEST(Crossovers, FindsContinuousValuesToTheirPrecision) {
  const Range range{.planned = 1, .least = 1.0 / 64, .most = 64};
  const Crossovers<char> crossovers = findCrossovers<char>(range, changesAt(7.77, 0.123));
  ASSERT_TRUE(crossovers.above && crossovers.below);
  EXPECT_GE(crossovers.above->at, 7.77);
  EXPECT_LE(crossovers.above->at, 7.77 * 1.011);
  EXPECT_LE(crossovers.below->at, 0.123);
  EXPECT_GE(crossovers.below->at, 0.123 / 1.011);
}

// The nearest of several is what is requested.
TEST(Crossovers, StopsAtTheFirst) {
  const Range range{.planned = 1, .least = 1, .most = 1024, .step = 1};
  double furthest = 0;
  auto other = [&](double value) -> std::optional<char> {
    furthest = std::max(furthest, value);
    return value < 30 ? std::nullopt : std::optional(value < 200 ? 'x' : 'y');
  };
  const Crossovers<char> crossovers = findCrossovers<char>(range, other);
  EXPECT_EQ(crossovers.above->at, 30);
  EXPECT_EQ(crossovers.above->choice, 'x');
  EXPECT_EQ(furthest, 32);
}

TEST(Crossovers, NothingWhereNothingChanges) {
  const Range range{.planned = 4, .least = 1, .most = 64, .step = 1};
  const Crossovers<char> crossovers = findCrossovers<char>(range, changesAt(65, 0));
  EXPECT_FALSE(crossovers.above);
  EXPECT_FALSE(crossovers.below);
}
