// The runtime's trees as the planner prices them.
#include "passes/problem/TreeCost.h"

#include "runtime/transport/collectives/Trees.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace syncline::problem {

namespace {

using namespace transport;

constexpr std::int64_t KiB = 1 << 10, MiB = 1 << 20;

// What is priced is what runs: the cut of every size around its borders, and far beyond.
TEST(TreeCost, CutsAsTheRuntimeDoes) {
  for (std::int64_t border : {32 * KiB, 64 * KiB, 128 * KiB, 256 * KiB, 512 * KiB, MiB, 256 * MiB})
    for (std::int64_t bytes : {border - 128, border, border + 128, border + 4096}) {
      const TreeCut cut = treeCut(bytes);
      const Blocks blocks = treeBlocks(static_cast<std::size_t>(bytes), 4);
      EXPECT_EQ(cut.trees, blocks.count()) << bytes;
      EXPECT_EQ(cut.segments, blocks.segments()) << bytes;
    }
}

// Computed by hand for 4 ranks: the root has one child, which has two. One tree takes 2 latencies
// up and 3 down, and 3 messages into and out of the ranks on the way.
TEST(TreeCost, FollowsTheLongestWayOfOneTree) {
  const auto cost = treeCost(4, {1, 0.25, 0.5});
  EXPECT_DOUBLE_EQ(cost->seconds(1000), 5 + 1000 * (6 * 0.25 + 3 * 0.5));
}

// Two trees of one segment each share the bytes, and nothing else.
TEST(TreeCost, HalvesTheBytesOverTwoTrees) {
  const auto cost = treeCost(4, {1, 0.25, 0});
  EXPECT_DOUBLE_EQ(cost->seconds(128 * KiB), 5 + 128 * KiB * 3 * 0.25);
}

// Every 256 KiB more is a segment more, whose halves the busiest rank sends four times: twice the
// bytes; what it adds it adds once.
TEST(TreeCost, LongMessagesPassTheBusiestRankTwice) {
  for (int ranks : {4, 7, 64}) {
    const auto cost = treeCost(ranks, {1, 0.25, 0.5});
    EXPECT_NEAR((cost->seconds(300 * MiB) - cost->seconds(100 * MiB)) / (200 * MiB), 2 * 0.25 + 0.5,
                1e-9);
  }
}

// Two ranks send half each, as in a ring.
TEST(TreeCost, TwoRanksHaveTheRingsTime) {
  const LinkRates rates{0, 0.25, 0.5};
  for (std::int64_t bytes : {32 * KiB + 1, 100 * KiB, MiB, 100 * MiB})
    EXPECT_NEAR(treeCost(2, rates)->seconds(std::max(bytes, 64 * KiB)),
                formulaLine(Scheme::ring, 2, rates).seconds(std::max(bytes, 64 * KiB)), 1e-3);
}

// The runtime gets faster where one tree becomes two, and one segment two. Its price waits: that
// labels with more bytes are worse holds, and whoever sends more pays no less.
TEST(TreeCost, NeverFalls) {
  for (int ranks : {2, 3, 4, 5, 6, 7, 8, 31, 32, 33, 1000, 1 << 20})
    for (const LinkRates &rates :
         {LinkRates{5e-5, 8e-9, 1e-10}, LinkRates{0, 1e-9, 0}, LinkRates{1e-3, 0, 0},
          LinkRates{0, 0, 1e-9}, LinkRates{5e-6, 2.5e-11, 1e-10}}) {
      const auto cost = treeCost(ranks, rates);
      for (const CostSegment &piece : cost->segments())
        EXPECT_GE(piece.slope, 0) << ranks << " ranks, from " << piece.firstByte;
      for (std::int64_t border : {32 * KiB, 128 * KiB, 512 * KiB})
        for (std::int64_t bytes = border - 2; bytes < border + 3; ++bytes)
          EXPECT_LE(cost->seconds(bytes), cost->seconds(bytes + 1)) << ranks << ", " << bytes;
    }
}

// An inner rank of one tree has a parent and two children; over two trees it is a leaf in one.
TEST(TreeTraffic, DependsOnTheNumberOfTrees) {
  EXPECT_EQ(treeTraffic(1, 1000), 0);
  EXPECT_EQ(treeTraffic(2, 32 * KiB), 2);
  EXPECT_EQ(treeTraffic(3, 32 * KiB), 4);
  EXPECT_EQ(treeTraffic(4, 32 * KiB), 6);
  EXPECT_EQ(treeTraffic(100, 32 * KiB), 6);
  EXPECT_EQ(treeTraffic(2, 32 * KiB + 1), 2);
  EXPECT_EQ(treeTraffic(3, 32 * KiB + 1), 3);
  EXPECT_EQ(treeTraffic(4, 32 * KiB + 1), 4);
  EXPECT_EQ(treeTraffic(100, 32 * KiB + 1), 4);
}

// Counted by hand for nodes of one rank. With nodes of four ranks, both trees have the same five
// edges between neighbours.
TEST(TreeTraffic, CountsWhatLeavesANode) {
  EXPECT_EQ(treeCardLoad(2, 1), 1);
  EXPECT_EQ(treeCardLoad(3, 1), 1.5);
  EXPECT_EQ(treeCardLoad(8, 1), 2);
  EXPECT_EQ(treeCardLoad(4, 2), 4);
  EXPECT_EQ(treeCardLoad(8, 4), 5);
  EXPECT_EQ(treeCardLoad(1000, 4), 5);
  EXPECT_EQ(treeCardLoad(1, 8), 0);
}

} // namespace
} // namespace syncline::problem
