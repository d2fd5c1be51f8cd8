// NCCL's all-reduce: what each algorithm takes, and the minimum of all.
#include "passes/problem/NcclCost.h"

#include <gtest/gtest.h>

namespace syncline::problem {
namespace {

constexpr double us = 1e-6;

/// Links of 100 GB/s inside and 10 GB/s between, with easy numbers.
NcclLayout layoutOf(int nodes, int devices) {
  NcclLayout layout{.nodes = nodes, .devices = devices, .inside = {}, .between = {}};
  layout.inside = {1e-11, {1 * us, 0.25}, {2 * us, 0.5}, {4 * us, 0.8}, {}};
  layout.between = {1e-10, {5 * us, 0.1}, {10 * us, 0.5}, {50 * us, 1}, {}};
  return layout;
}

NcclLayout withSwitch(NcclLayout layout) {
  layout.inside.inSwitch = {30 * us, 0.5};
  return layout;
}

void expectLine(const AffineCost &line, double latency, double secondsPerByte) {
  EXPECT_NEAR(line.latency(), latency, 1e-12);
  EXPECT_NEAR(line.secondsPerByte(), secondsPerByte, 1e-18);
}

// A ring of n ranks sends 2(n-1) messages one after the other, 2(k-1) of them between k nodes.
TEST(NcclCost, Ring) {
  const auto inside = ncclLines(NcclAlgorithm::ring, layoutOf(1, 8));
  ASSERT_EQ(inside.size(), 3u);
  expectLine(inside[0], (6.6 + 14 * 1) * us, 1.75 * 1e-11 / 0.25);
  expectLine(inside[1], (14 + 14 * 2) * us, 1.75 * 1e-11 / 0.5);
  expectLine(inside[2], (8.4 + 14 * 4) * us, 1.75 * 1e-11 / 0.8);
  const auto between = ncclLines(NcclAlgorithm::ring, layoutOf(4, 8));
  expectLine(between[0], (6.6 + 56 * 1 + 6 * 5) * us, 62 / 32.0 * 1e-10 / 0.1);
}

// A byte of a tree leaves a node once of two nodes, twice of more. The logarithm of the nodes
// makes its latency.
TEST(NcclCost, Tree) {
  expectLine(ncclLines(NcclAlgorithm::tree, layoutOf(2, 1))[2], (8.4 + 2 * 50) * us, 1e-10);
  expectLine(ncclLines(NcclAlgorithm::tree, layoutOf(8, 1))[2], (8.4 + 6 * 50) * us, 2e-10);
  // Inside a node Simple's message takes 4 / 3.4 times as long as a ring's.
  expectLine(ncclLines(NcclAlgorithm::tree, layoutOf(1, 8))[2], (8.4 + 14 * 4 * 4 / 3.4) * us,
             2e-11 / (0.85 * 0.8));
}

// A reduce-scatter calls NCCL twice for a ring's two halves; an all-gather goes around once, with
// what every other rank contributes.
TEST(NcclCost, Halves) {
  const NcclLayout layout = layoutOf(4, 8);
  const AffineCost ring = ncclLines(NcclAlgorithm::ring, layout)[0];
  const auto halves = ncclCost(Scheme::reduceScatter, layout), gather = ncclGatherCost(layout);
  EXPECT_NEAR(halves->seconds(0), ring.latency() + 6.6 * us, 1e-12);
  EXPECT_NEAR(gather->seconds(0), (6.6 + 28 * 1 + 3 * 5) * us, 1e-12);
  constexpr std::int64_t large = std::int64_t(1) << 34;
  EXPECT_NEAR(halves->seconds(large) / large, 62 / 32.0 * 1e-10, 1e-13);
  EXPECT_NEAR(gather->seconds(large) / large, 31 * 1e-10, 1e-13);
  EXPECT_EQ(ncclGatherCost(layoutOf(1, 1))->seconds(1 << 20), 0);
}

// Exchanges with others of a node go one after the other, with those of other nodes eight at a
// time. The devices of a node share its cards.
TEST(NcclCost, Exchange) {
  const LinkRates inside = ncclExchangeRates(layoutOf(1, 8)),
                  between = ncclExchangeRates(layoutOf(4, 8)), alone = ncclExchangeRates({});
  EXPECT_NEAR(inside.latency * 7, (8.4 + 7 * 4) * us, 1e-12);
  EXPECT_NEAR(inside.secondsPerByte, 1e-11 / 0.8, 1e-18);
  EXPECT_NEAR(between.latency * 31, (8.4 + 7 * 4 + 3 * 50) * us, 1e-12);
  EXPECT_NEAR(between.secondsPerByte, 8 * 1e-10 / 0.8, 1e-18);
  EXPECT_EQ(alone.latency, 0);
}

// The switch sums where it can: alone in one node, below trees over several.
TEST(NcclCost, Switch) {
  EXPECT_TRUE(ncclLines(NcclAlgorithm::inSwitch, layoutOf(1, 8)).empty());
  EXPECT_TRUE(ncclLines(NcclAlgorithm::inSwitch, withSwitch(layoutOf(2, 8))).empty());
  EXPECT_TRUE(ncclLines(NcclAlgorithm::switchTree, withSwitch(layoutOf(2, 1))).empty());
  expectLine(ncclLines(NcclAlgorithm::inSwitch, withSwitch(layoutOf(1, 8)))[0], 30 * us, 2e-11);
  expectLine(ncclLines(NcclAlgorithm::switchTree, withSwitch(layoutOf(4, 8)))[0],
             (30 + 4 * 50) * us, 2e-10);
}

// The library's choice is the least of all lines, and barely less than each, so that it is taken
// before a ring or a tree that is as fast.
TEST(NcclCost, Library) {
  for (int nodes : {1, 2, 3, 8})
    for (int devices : {1, 2, 8}) {
      if (nodes * devices == 1)
        continue;
      const NcclLayout layout = withSwitch(layoutOf(nodes, devices));
      const auto library = ncclCost(Scheme::library, layout), ring = ncclCost(Scheme::ring, layout),
                 tree = ncclCost(Scheme::tree, layout);
      double before = 0;
      for (std::int64_t bytes = 1; bytes < std::int64_t(1) << 34; bytes = bytes * 3 / 2 + 1) {
        double least = 1e9;
        for (NcclAlgorithm algorithm : {NcclAlgorithm::ring, NcclAlgorithm::tree,
                                        NcclAlgorithm::inSwitch, NcclAlgorithm::switchTree})
          for (const AffineCost &line : ncclLines(algorithm, layout))
            least = std::min(least, line.seconds(bytes));
        const double seconds = library->seconds(bytes);
        EXPECT_NEAR(seconds, least, 1e-11 * least) << nodes << " x " << devices << ", " << bytes;
        EXPECT_LT(seconds, ring->seconds(bytes)) << nodes << " x " << devices << ", " << bytes;
        EXPECT_LT(seconds, tree->seconds(bytes)) << nodes << " x " << devices << ", " << bytes;
        EXPECT_GE(seconds, before) << nodes << " x " << devices << ", " << bytes;
        before = seconds;
      }
    }
}

// One rank sends nothing.
TEST(NcclCost, OneRank) {
  EXPECT_EQ(ncclCost(Scheme::library, layoutOf(1, 1))->seconds(1 << 20), 0);
}

// Lines that meet in one byte, and equal lines, make pieces that ascend.
TEST(NcclCost, CloseLines) {
  NcclLayout layout = layoutOf(2, 1);
  layout.between.ll = layout.between.ll128 = layout.between.simple = {0, 1};
  layout.between.secondsPerByte = 1e-3;
  const auto cost = ncclCost(Scheme::library, layout);
  for (std::size_t i = 1; i < cost->segments().size(); ++i)
    EXPECT_LT(cost->segments()[i - 1].firstByte, cost->segments()[i].firstByte);
  EXPECT_NEAR(cost->seconds(1 << 20), 6.6 * us + (1 << 20) * 1e-3, 1e-6);
}

} // namespace
} // namespace syncline::problem
