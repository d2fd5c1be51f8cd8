// From findings to constants and tables.
#include "Invented.h"

#include "runtime/calibrate/Analysis.h"

#include <gtest/gtest.h>

namespace syncline::calibrate {
namespace {

using namespace testing;
const LinkConstants truth{50e-6, 8e-9, 1e-10};

TEST(Analysis, PlansByTimesBesideComputation) {
  const Analysis a = analyse(invent(4, truth), false);
  EXPECT_TRUE(a.isLoaded);
  EXPECT_TRUE(a.network.isFromRing);
  EXPECT_NEAR(a.network.constants.alpha, 1.5 * truth.alpha, 1e-9);
  EXPECT_NEAR(a.network.constants.beta, 1.5 * truth.beta, 1e-13);
  EXPECT_LT(a.network.worstResidual, 1e-6);
  ASSERT_EQ(a.tables.size(), 3u);
  EXPECT_DOUBLE_EQ(a.tables[0].costs[2].seconds,
                   invent(4, truth).schemes[0].sizes[2].loaded.median);
}

TEST(Analysis, IdleTimesWhenAskedFor) {
  const Analysis a = analyse(invent(4, truth), true);
  EXPECT_FALSE(a.isLoaded);
  EXPECT_NEAR(a.network.constants.beta, truth.beta, 1e-13);
}

// Times beside computation that are all over the place lose to idle ones.
TEST(Analysis, IdleTimesWhereOthersCannotBeReproduced) {
  Findings f = invent(4, truth);
  for (SchemeFinding &scheme : f.schemes)
    for (SizeFinding &size : scheme.sizes)
      size.loaded = wild(size.loaded.median);
  EXPECT_FALSE(analyse(f, false).isLoaded);
  // One wild scheme of three is too much, one wild size of a scheme is not.
  f = invent(4, truth);
  f.schemes[0].sizes[0].loaded = wild(1);
  EXPECT_TRUE(analyse(f, false).isLoaded);
  for (SizeFinding &size : f.schemes[0].sizes)
    size.loaded = wild(size.loaded.median);
  EXPECT_FALSE(analyse(f, false).isLoaded);
}

TEST(Analysis, SlowestPairWhereNoRingWasMeasured) {
  Findings f = invent(4, truth);
  std::erase_if(f.schemes, [](const SchemeFinding &s) { return s.scheme != "tree"; });
  const Analysis a = analyse(f, false);
  EXPECT_FALSE(a.network.isFromRing);
  EXPECT_DOUBLE_EQ(a.network.constants.alpha, 40e-6);
  EXPECT_DOUBLE_EQ(a.network.constants.beta, 2e-9);
}

// Long messages over a link without latency tell of none: then pairs do.
TEST(Analysis, LatencyOfThePairsWhereTheRingTellsNone) {
  Findings f = invent(4, {0, 8e-9, 0});
  for (SchemeFinding &scheme : f.schemes) // less than proportional: a latency would be negative
    scheme.sizes.front().idle = steady(0.9 * scheme.sizes.front().idle.median);
  const Analysis a = analyse(f, true);
  EXPECT_TRUE(a.network.isFromRing && a.network.isLatencyFromPairs);
  EXPECT_DOUBLE_EQ(a.network.constants.alpha, 40e-6);
  EXPECT_NEAR(a.network.constants.beta, 8e-9, 8e-10);
  EXPECT_FALSE(analyse(invent(4, truth), true).network.isLatencyFromPairs);
}

// A time that falls is smoothed in the costs, and told as a jump.
TEST(Analysis, SmoothsAndTells) {
  Findings f = invent(4, truth);
  f.schemes[1].sizes[3].loaded = steady(f.schemes[1].sizes[5].loaded.median);
  const Table table = analyse(f, false).tables[1];
  EXPECT_GT(table.measured[3].seconds, table.measured[4].seconds);
  for (std::size_t i = 1; i < table.costs.size(); ++i)
    EXPECT_LE(table.costs[i - 1].seconds, table.costs[i].seconds);
  ASSERT_FALSE(table.jumps.empty());
  EXPECT_EQ(table.jumps.front().after, table.measured[3].bytes);
}

// A wild time gives way to certain neighbours.
TEST(Analysis, CertainTimesDecide) {
  Findings f = invent(4, truth);
  f.schemes[1].sizes[2].loaded = wild(3 * f.schemes[1].sizes[3].loaded.median);
  const Table table = analyse(f, false).tables[1];
  EXPECT_DOUBLE_EQ(table.costs[2].seconds, f.schemes[1].sizes[3].loaded.median);
  EXPECT_DOUBLE_EQ(table.costs[3].seconds, f.schemes[1].sizes[3].loaded.median);
}

// Of times that are known within a factor of two the constants take little notice.
TEST(Analysis, CertainTimesDecideTheConstants) {
  Findings f = invent(4, truth);
  for (std::size_t i = 0; i < f.schemes[2].sizes.size(); ++i) // factors
    f.schemes[2].sizes[i].idle = wild((i % 2 ? 0.3 : 4) * f.schemes[2].sizes[i].idle.median);
  const LinkConstants found = analyse(f, true).network.constants;
  EXPECT_NEAR(found.alpha / truth.alpha, 1, 0.02);
  EXPECT_NEAR((2 * found.beta + found.gamma) / (2 * truth.beta + truth.gamma), 1, 0.02);
}

// Noise is no jump.
TEST(Analysis, UncertainGrowthIsNotTold) {
  Findings f = invent(4, truth);
  SizeFinding &size = f.schemes[1].sizes[3];
  size.loaded = wild(1.5 * size.loaded.median);
  EXPECT_TRUE(analyse(f, false).tables[1].jumps.empty());
}

TEST(Analysis, LinkInsideNodes) {
  Findings f = invent(4, truth);
  f.ranksPerNode = 2;
  EXPECT_FALSE(analyse(f, false).inside);
  f.inside = invent(2, {1e-6, 1e-10, 0}).schemes[0];
  const Analysis a = analyse(f, true);
  ASSERT_TRUE(a.inside);
  EXPECT_NEAR(a.inside->constants.alpha, 1e-6, 1e-9);
  EXPECT_NEAR(a.inside->constants.beta, 1e-10, 1e-13);
}

} // namespace
} // namespace syncline::calibrate
