// Batches of unequal ranks.
#include "passes/candidates/SplitBatch.h"

#include "ir/cluster/SpecFields.h"
#include "tests/unit/driver/Dialects.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace syncline::candidates {
namespace {

using Batches = std::vector<std::int64_t>;

double longest(const ComputeTime &time, const std::vector<double> &slowdowns,
               const Batches &batches) {
  double most = 0;
  for (std::size_t rank = 0; rank < batches.size(); ++rank)
    most = std::max(most, slowdowns[rank] * time.of(batches[rank]));
  return most;
}

/// The least longest time of all batches of at least one sample with this sum.
double leastLongest(const ComputeTime &time, const std::vector<double> &slowdowns,
                    std::int64_t samples) {
  double least = 1e300;
  Batches batches(slowdowns.size(), 1);
  const std::function<void(std::size_t, std::int64_t)> choose = [&](std::size_t rank,
                                                                    std::int64_t left) {
    if (rank + 1 == batches.size()) {
      batches[rank] = left;
      least = std::min(least, longest(time, slowdowns, batches));
      return;
    }
    const auto others = std::ssize(batches) - static_cast<std::int64_t>(rank) - 1;
    for (batches[rank] = 1; batches[rank] <= left - others; ++batches[rank])
      choose(rank + 1, left - batches[rank]);
  };
  choose(0, samples);
  return least;
}

TEST(SplitBatch, HasTheLeastLongestTimeOfAllBatches) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> slow(0.3, 5), part(0, 8);
  for (int round = 0; round < 300; ++round) {
    const std::size_t ranks = 1 + random() % 4;
    const auto samples = static_cast<std::int64_t>(ranks + random() % 20);
    std::vector<double> slowdowns(ranks);
    for (double &slowdown : slowdowns)
      slowdown = random() % 3 == 0 ? 1 : slow(random);
    const ComputeTime time{random() % 3 == 0 ? 0 : part(random), 1};
    const Batches batches = splitBatch(time, slowdowns, samples);
    EXPECT_EQ(std::accumulate(batches.begin(), batches.end(), std::int64_t{0}), samples);
    EXPECT_GE(*std::ranges::min_element(batches), 1);
    const double least = leastLongest(time, slowdowns, samples);
    EXPECT_LE(longest(time, slowdowns, batches), least * (1 + 1e-9));
    EXPECT_TRUE(isBestSplit(time, slowdowns, batches));
    Batches other = batches; // one sample elsewhere
    ++other.front();
    --other.back();
    if (ranks > 1 && other.back() > 0) {
      EXPECT_EQ(isBestSplit(time, slowdowns, other),
                longest(time, slowdowns, other) <= least * (1 + 1e-9));
    }
  }
}

TEST(SplitBatch, GivesRemaindersToTheFastestAndThenTheFirst) {
  EXPECT_EQ(splitBatch({0, 1}, {2, 1}, 12), (Batches{4, 8}));
  EXPECT_EQ(splitBatch({0, 1}, {2, 1}, 13), (Batches{4, 9}));
  EXPECT_EQ(splitBatch({0, 1}, {1, 1, 1}, 11), (Batches{4, 4, 3}));
  EXPECT_EQ(splitBatch({0, 1}, {1, 1000, 1}, 7), (Batches{3, 1, 3}));
  EXPECT_EQ(splitBatch({100, 1}, {1, 1.5}, 2), (Batches{1, 1}));
}

TEST(SplitBatch, SplitsForAMillionRanks) {
  std::vector<double> slowdowns(std::size_t{1} << 20, 1);
  slowdowns.back() = 2;
  const Batches batches = splitBatch({0.5, 1}, slowdowns, std::int64_t{32} << 20);
  EXPECT_EQ(std::accumulate(batches.begin(), batches.end(), std::int64_t{0}),
            std::int64_t{32} << 20);
  EXPECT_TRUE(isBestSplit({0.5, 1}, slowdowns, batches));
  EXPECT_LT(batches.back(), 20);
}

/// Four ranks on two nodes.
cluster::SpecAttr twoNodes(double slowdown) {
  mlir::MLIRContext *const context = &test::dialects();
  cluster::SpecFields fields;
  fields.name = "c";
  fields.ranks = 4;
  fields.devicesPerNode = 2;
  fields.device = cluster::DeviceAttr::get(context, cluster::Real(1e10), cluster::Real(1e10),
                                           cluster::Real(0.0), std::nullopt, {});
  fields.link = cluster::LinkAttr::get(context, 1e-4, 1e-8, 0.0, {});
  fields.overrides.push_back(
      cluster::OverrideAttr::get(context, {1}, slowdown, cluster::LinkAttr()));
  return fields.get(context);
}

TEST(SplitBatch, ReadsASlowdownForEachRankOfANode) {
  EXPECT_EQ(slowdownsOf(twoNodes(3)), (std::vector<double>{1, 1, 3, 3}));
}

// Relative to a rank without slowdown that computes 8 samples, in 10 s.
TEST(SplitBatch, PutsBatchesIntoTheSlowdownsOfNodes) {
  const ComputeTime time{2, 1};
  const cluster::SpecAttr spec = twoNodes(3);
  const auto balanced = asBalanced(spec, time, slowdownsOf(spec), {8, 8, 2, 1}, 8);
  EXPECT_EQ(slowdownsOf(balanced), (std::vector<double>{1, 1, 1.2, 1.2}));
  EXPECT_EQ(slowdownsOf(asBalanced(balanced, time, slowdownsOf(spec), {3, 8, 2, 1}, 3)),
            (std::vector<double>{2, 2, 2.4, 2.4}));
  EXPECT_TRUE(asBalanced(spec, time, {1, 1, 1, 1}, {8, 8, 8, 8}, 8).getOverrides().empty());
}

} // namespace
} // namespace syncline::candidates
