// Samples dealt out to ranks and steps.
#include "runtime/data/Sampler.h"

#include <gtest/gtest.h>
#include <set>

namespace syncline {
namespace {

using data::Sampler;

// Ranks' blocks of a global batch are disjoint, in order, and make up the epoch but for its rest.
TEST(Sampler, DealsOutBlocks) {
  for (bool shuffle : {false, true}) {
    std::set<std::int64_t> seen;
    for (int rank = 0; rank < 3; ++rank) {
      Sampler sampler(20, 3, rank, 2, shuffle, 7);
      EXPECT_EQ(sampler.batchesPerEpoch(), 3);
      EXPECT_EQ(sampler.dropped(), 2);
      for (std::int64_t step = 0; step < 3; ++step)
        for (std::int64_t i : sampler.at(step).indices) {
          EXPECT_TRUE(seen.insert(i).second);
          if (!shuffle) {
            EXPECT_EQ(i / 2, step * 3 + rank);
          }
        }
    }
    EXPECT_EQ(seen.size(), 18u);
  }
}

// Another epoch has another order; the same seed the same.
TEST(Sampler, ShufflesByEpochAndSeed) {
  Sampler a(100, 1, 0, 50, true, 1), b(100, 1, 0, 50, true, 1), c(100, 1, 0, 50, true, 2);
  EXPECT_EQ(a.at(0).indices, b.at(0).indices);
  EXPECT_NE(a.at(0).indices, c.at(0).indices);
  EXPECT_NE(a.at(0).indices, a.at(2).indices);
  EXPECT_EQ(a.at(2).indices, b.at(2).indices);
}

// A step's samples do not depend on the steps that were asked for before, so that a run may begin
// at any step.
TEST(Sampler, DependsOnTheStepAlone) {
  Sampler inOrder(50, 2, 1, 4, true, 3), jumping(50, 2, 1, 4, true, 3);
  std::vector<std::vector<std::int64_t>> wanted;
  for (std::int64_t step = 0; step < 30; ++step) {
    wanted.push_back(inOrder.at(step).indices);
    EXPECT_EQ(inOrder.at(step).epoch, step / 6);
  }
  for (std::int64_t step : {29, 0, 17, 5, 6, 29, 13})
    EXPECT_EQ(jumping.at(step).indices, wanted[static_cast<std::size_t>(step)]) << step;
}

// Ranks of unequal batches take those samples of a step that one rank would take with all.
TEST(Sampler, DealsOutUnequalShares) {
  for (const bool shuffle : {false, true}) {
    Sampler whole(20, {0, 6, 6}, shuffle, 7), first(20, {0, 1, 6}, shuffle, 7),
        second(20, {1, 3, 6}, shuffle, 7), third(20, {4, 2, 6}, shuffle, 7);
    EXPECT_EQ(second.batchesPerEpoch(), 3);
    EXPECT_EQ(second.dropped(), 2);
    for (std::int64_t step = 0; step < 7; ++step) {
      std::vector<std::int64_t> all;
      for (Sampler *const sampler : {&first, &second, &third})
        for (const std::int64_t i : sampler->at(step).indices)
          all.push_back(i);
      EXPECT_EQ(all, whole.at(step).indices);
    }
  }
}

} // namespace
} // namespace syncline
