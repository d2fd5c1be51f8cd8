// How far the tree's formula is from the trees that run, segment by segment.
#include "tests/unit/simulate/Scenes.h"

#include "passes/problem/TreeCost.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::simulate;

namespace {

constexpr std::int64_t KiB = 1 << 10, MiB = 1 << 20;

struct Ratio {
  double least = 1e9, most = 0; ///< formula / simulation
  void add(double ratio) {
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
};

Scenario treeOn(const problem::LinkRates &rates, std::int64_t bytes, int ranks) {
  Scenario scenario = oneMessage(Scheme::tree, bytes, ranks);
  scenario.machines.network = rates;
  return scenario;
}

/// Over all numbers of ranks that are simulated fast enough.
Ratio compare(const problem::LinkRates &rates, std::initializer_list<std::int64_t> sizes) {
  Ratio ratio;
  for (int ranks : {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 48, 63, 64})
    for (std::int64_t bytes : sizes)
      if (ranks * bytes <= 512 * MiB)
        ratio.add(problem::treeCost(ranks, rates)->seconds(bytes) /
                  endOf(treeOn(rates, bytes, ranks)));
  return ratio;
}

/// 1, 10 and 100 Gb/s; sums as fast as memory.
constexpr problem::LinkRates gigabit{1e-4, 8e-9, 1e-10}, tenGigabit{5e-5, 8e-10, 1e-10},
    hundredGigabit{2.5e-5, 8e-11, 2e-12};

} // namespace

// The longest way counts both trees' latencies and bytes as if they never met: exact on powers of
// two without sums, at most a fifth too long elsewhere.
TEST(TreeTimeTest, ShortMessagesTakeTheFormulasTime) {
  for (const problem::LinkRates &rates : {gigabit, tenGigabit, hundredGigabit}) {
    const Ratio one = compare(rates, {KiB, 8 * KiB, 32 * KiB});
    EXPECT_GE(one.least, 0.999);
    EXPECT_LE(one.most, 1.20);
    const Ratio two = compare(rates, {64 * KiB, 96 * KiB, 128 * KiB});
    EXPECT_GE(two.least, 0.99);
    EXPECT_LE(two.most, 1.25);
  }
}

// The pipeline's beat sets the pace: what is left is the filling, and sums that hide behind sends.
TEST(TreeTimeTest, LongMessagesTakeTheFormulasTime) {
  for (const problem::LinkRates &rates : {gigabit, hundredGigabit}) {
    const Ratio ratio = compare(rates, {16 * MiB, 64 * MiB, 256 * MiB});
    EXPECT_GE(ratio.least, 0.98);
    EXPECT_LE(ratio.most, 1.05);
  }
  const Ratio ratio = compare(tenGigabit, {16 * MiB, 64 * MiB});
  EXPECT_GE(ratio.least, 0.98);
  EXPECT_LE(ratio.most, 1.10); // a byte is summed in an eighth of the time that it is sent in
}

// In between a segment more or less counts.
TEST(TreeTimeTest, MediumMessagesAreNotFar) {
  for (const problem::LinkRates &rates : {gigabit, tenGigabit, hundredGigabit}) {
    const Ratio ratio = compare(rates, {256 * KiB, 512 * KiB, 768 * KiB, MiB, 2 * MiB, 4 * MiB});
    EXPECT_GE(ratio.least, 0.95);
    EXPECT_LE(ratio.most, 1.40);
  }
}

// Just above 32 KiB the runtime takes half as long as just below. The cost stays level until the
// bytes have doubled.
TEST(TreeTimeTest, TheCostWaitsWhereTheRuntimeGetsFaster) {
  const Ratio ratio = compare(gigabit, {32 * KiB + 4, 128 * KiB + 4});
  EXPECT_GT(ratio.most, 1.7);
  EXPECT_LE(ratio.most, 2.2);
}

// Both directions of a card that carries one at a time.
TEST(TreeTimeTest, HalfDuplexDoublesWhatTheLinksCarry) {
  Scenario scenario = treeOn(gigabit, 64 * MiB, 8);
  scenario.machines.halfDuplex = true;
  problem::LinkRates half = gigabit;
  half.secondsPerByte *= 2;
  const double formula = problem::treeCost(8, half)->seconds(64 * MiB);
  EXPECT_NEAR(endOf(scenario), formula, 0.05 * formula);
}

// Trees over ranks in nodes of four pass a node's cards five times where the ranks' own links carry
// them four times: the load that the cost counts.
TEST(TreeTimeTest, NodesOfSeveralDevicesShareTheirCards) {
  for (int devices : {2, 4, 8})
    for (int nodes : {2, 4, 8}) {
      Scenario scenario = treeOn(tenGigabit, 32 * MiB, nodes * devices);
      scenario.machines.devicesPerNode = devices;
      scenario.machines.inside = problem::LinkRates{1e-5, 5e-11, 1e-12};
      scenario.machines.network->reduceSecondsPerByte = 1e-12;
      problem::LinkRates shared = *scenario.machines.network;
      shared.secondsPerByte *= std::max(1.0, problem::treeCardLoad(nodes, devices) / 2);
      const double formula = problem::treeCost(nodes * devices, shared)->seconds(32 * MiB);
      EXPECT_NEAR(formula, endOf(scenario), 0.06 * formula) << nodes << " times " << devices;
    }
}
