// From findings to constants and tables.
#include "Invented.h"

#include "runtime/calibrate/Analysis.h"

#include <gtest/gtest.h>

namespace syncline::calibrate {
namespace {

using namespace testing;
const LinkConstants truth{50e-6, 8e-9, 1e-10};

TEST(Analysis, FindsTheLink) {
  const Analysis a = analyse(invent(4, truth));
  EXPECT_TRUE(a.network->isFromRing);
  EXPECT_FALSE(a.network->isBandwidthOfPairs);
  EXPECT_NEAR(a.network->constants.alpha, truth.alpha, 1e-9);
  EXPECT_NEAR(a.network->constants.beta, truth.beta, 1e-13);
  EXPECT_LT(a.network->worstResidual, 1e-6);
  ASSERT_EQ(a.tables.size(), 3u);
  EXPECT_DOUBLE_EQ(a.tables[0].costs[2].seconds,
                   invent(4, truth).schemes[0].sizes[2].seconds.median);
}

// Short messages that pass as bursts, at ten times the link's rate, say nothing of the bandwidth;
// the comment's residual of long ones is theirs alone.
TEST(Analysis, BurstsAreNoBandwidth) {
  Findings f = invent(2, truth);
  const LinkConstants burst{truth.alpha, truth.beta / 10, truth.gamma};
  for (SchemeFinding &scheme : f.schemes)
    for (SizeFinding &size : scheme.sizes)
      if (size.bytes <= 256 << 10 && scheme.scheme != Scheme::tree)
        size.seconds =
            steady(burst.predict(*ringRounds(scheme.scheme, 2, static_cast<double>(size.bytes))));
  const LinkCosts link = *analyse(f).network;
  EXPECT_NEAR(link.constants.beta / truth.beta, 1, 1e-3);
  EXPECT_NEAR(link.constants.alpha / truth.alpha, 1, 0.2);
  EXPECT_LT(link.longResidual, 0.02);
  EXPECT_GT(link.worstResidual, 0.5);
}

// No bandwidth is written that rank 0's slowest pair does not have.
TEST(Analysis, NoBandwidthAboveThePairs) {
  const LinkCosts link = *analyse(invent(4, {50e-6, 1e-9, 1e-10})).network;
  EXPECT_TRUE(link.isBandwidthOfPairs);
  EXPECT_DOUBLE_EQ(link.constants.beta, 0.99 * 2e-9);
  EXPECT_DOUBLE_EQ(link.constants.gamma, 0);
  EXPECT_GT(link.constants.alpha, 0);
}

TEST(Analysis, SlowestPairWhereNoRingWasMeasured) {
  Findings f = invent(4, truth);
  std::erase_if(f.schemes, [](const SchemeFinding &s) { return s.scheme != Scheme::tree; });
  const Analysis a = analyse(f);
  EXPECT_FALSE(a.network->isFromRing);
  EXPECT_DOUBLE_EQ(a.network->constants.alpha, 40e-6);
  EXPECT_DOUBLE_EQ(a.network->constants.beta, 2e-9);
}

// Without pairs the ring's rounds alone say what the network is; without both nothing does.
TEST(Analysis, NoPairs) {
  Findings f = invent(4, {50e-6, 1e-9, 1e-10}); // beyond the invented pairs' bandwidth
  f.pairs.clear();
  const Analysis a = analyse(f);
  ASSERT_TRUE(a.network);
  EXPECT_TRUE(a.network->isFromRing);
  EXPECT_FALSE(a.network->isBandwidthOfPairs || a.network->isLatencyFromPairs);
  EXPECT_NEAR(a.network->constants.beta, 1e-9, 1e-13);
  std::erase_if(f.schemes, [](const SchemeFinding &s) { return s.scheme != Scheme::tree; });
  EXPECT_FALSE(analyse(f).network);
  EXPECT_EQ(analyse(f).tables.size(), 1u);
}

// Long messages over a link without latency tell of none: then pairs do.
TEST(Analysis, LatencyOfThePairsWhereTheRingTellsNone) {
  Findings f = invent(4, {0, 8e-9, 0});
  for (SchemeFinding &scheme : f.schemes) // less than proportional: a latency would be negative
    scheme.sizes.front().seconds = steady(0.9 * scheme.sizes.front().seconds.median);
  const Analysis a = analyse(f);
  EXPECT_TRUE(a.network->isFromRing && a.network->isLatencyFromPairs);
  EXPECT_DOUBLE_EQ(a.network->constants.alpha, 40e-6);
  EXPECT_NEAR(a.network->constants.beta, 8e-9, 8e-10);
  EXPECT_FALSE(analyse(invent(4, truth)).network->isLatencyFromPairs);
}

// A time that falls is smoothed in the costs, and told as a jump.
TEST(Analysis, SmoothsAndTells) {
  Findings f = invent(4, truth);
  f.schemes[1].sizes[3].seconds = steady(f.schemes[1].sizes[5].seconds.median);
  const Table table = analyse(f).tables[1];
  EXPECT_GT(table.measured[3].seconds, table.measured[4].seconds);
  for (std::size_t i = 1; i < table.costs.size(); ++i)
    EXPECT_LE(table.costs[i - 1].seconds, table.costs[i].seconds);
  ASSERT_FALSE(table.jumps.empty());
  EXPECT_EQ(table.jumps.front().after, table.measured[3].bytes);
}

// A wild time gives way to certain neighbours.
TEST(Analysis, CertainTimesDecide) {
  Findings f = invent(4, truth);
  f.schemes[1].sizes[2].seconds = wild(3 * f.schemes[1].sizes[3].seconds.median);
  const Table table = analyse(f).tables[1];
  EXPECT_DOUBLE_EQ(table.costs[2].seconds, f.schemes[1].sizes[3].seconds.median);
  EXPECT_DOUBLE_EQ(table.costs[3].seconds, f.schemes[1].sizes[3].seconds.median);
}

// Times that are known only within a factor of two hardly change the constants.
TEST(Analysis, CertainTimesDecideTheConstants) {
  Findings f = invent(4, truth);
  for (std::size_t i = 0; i < f.schemes[2].sizes.size(); ++i) // factors
    f.schemes[2].sizes[i].seconds = wild((i % 2 ? 0.3 : 4) * f.schemes[2].sizes[i].seconds.median);
  const LinkConstants found = analyse(f).network->constants;
  EXPECT_NEAR(found.alpha / truth.alpha, 1, 0.02);
  EXPECT_NEAR((2 * found.beta + found.gamma) / (2 * truth.beta + truth.gamma), 1, 0.02);
}

// Noise is no jump.
TEST(Analysis, UncertainGrowthIsNotTold) {
  Findings f = invent(4, truth);
  SizeFinding &size = f.schemes[1].sizes[3];
  size.seconds = wild(1.5 * size.seconds.median);
  EXPECT_TRUE(analyse(f).tables[1].jumps.empty());
}

TEST(Analysis, LinkInsideNodes) {
  Findings f = invent(4, truth);
  f.ranksPerNode = 2;
  EXPECT_FALSE(analyse(f).inside);
  f.inside = invent(2, {1e-6, 1e-10, 0}).schemes[0];
  f.pairs[0].stream = steady(Pairs::streamBytes * 1e-10); // ranks 0 and 1, which share a node
  const Analysis a = analyse(f);
  ASSERT_TRUE(a.inside);
  EXPECT_NEAR(a.inside->constants.alpha, 1e-6, 1e-9);
  EXPECT_NEAR(a.inside->constants.beta, 1e-10, 1e-13);
}

} // namespace
} // namespace syncline::calibrate
