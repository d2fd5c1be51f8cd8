// Slow ranks: what they cost, who waits, and the batch that evens it out.
#include "frontend/report/Stragglers.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::report;
using simulate::Operation;
using simulate::Phase;
using simulate::Scenario;
using simulate::Simulation;

namespace {

/// Four ranks that compute 90 ms, agree on next to nothing by a ring, and update for 10 ms.
Scenario fourRanks(std::vector<double> slowdown) {
  Scenario scenario;
  scenario.operations = {
      {.layer = "all", .seconds = 0.090},
      {.kind = Operation::Kind::issue, .phase = Phase::backward, .message = 0},
      {.kind = Operation::Kind::wait, .phase = Phase::update, .message = 0},
      {.kind = Operation::Kind::update, .phase = Phase::update, .seconds = 0.010, .message = 0}};
  scenario.messages = {{.name = "all", .bytes = 4}};
  scenario.machines = {.ranks = 4, .network = problem::LinkRates{1e-9, 1e-12, 0}};
  scenario.machines.slowdown = std::move(slowdown);
  return scenario;
}

std::optional<Stragglers> stragglersOf(const Scenario &scenario,
                                       std::optional<std::int64_t> samples) {
  Result<Simulation> simulation = simulate::runScenario(scenario);
  EXPECT_TRUE(simulation) << simulation.status().message();
  Result<std::optional<Stragglers>> found = findStragglers(scenario, *simulation, samples);
  EXPECT_TRUE(found) << found.status().message();
  return *found;
}

} // namespace

// The others wait 45 ms for the slow rank's pass of 135 ms. With 20 of 30 samples that takes 90 ms
// as theirs does, and its update 15 ms more.
TEST(StragglersTest, SaysBeforeAfterWhoWaitsAndWhatWouldDo) {
  const auto found = stragglersOf(fourRanks({1, 1, 1, 1.5}), 30);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->without, 0.100, 1e-6);
  EXPECT_NEAR(found->step, 0.150, 1e-6);
  EXPECT_NEAR(found->minWait, 0.045, 1e-6);
  ASSERT_EQ(found->groups.size(), 1u);
  EXPECT_EQ(found->groups[0].ranks, std::vector<int>{3});
  EXPECT_EQ(found->groups[0].batch, 20);
  ASSERT_TRUE(found->balanced);
  EXPECT_NEAR(*found->balanced, 0.105, 1e-6);
  EXPECT_EQ(stragglersText(*found, 4, 30),
            "rank 3 computes 1.5 times as long: step 100.0 ms -> 150.0 ms (+50.00 %); ranks 0 to 2 "
            "wait 45.0 ms a step for messages\n"
            "a batch of 20 on rank 3 in place of 30 evens it out: step 105.0 ms, 1048 samples/s in "
            "place of 800.0\n");
}

// A trace may not give the number of samples. The report then has a share.
TEST(StragglersTest, WithoutSamplesItIsAShare) {
  const auto found = stragglersOf(fourRanks({1, 2, 1, 1}), {});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->groups[0].share, 0.5, 1e-9);
  EXPECT_NE(stragglersText(*found, 4, {}).find("50.00 % of the others' batch on rank 1 evens"),
            std::string::npos);
}

// Two kinds of slow ranks have a batch each; the slowest comes first.
TEST(StragglersTest, GroupsRanksThatAreEquallySlow) {
  const auto found = stragglersOf(fourRanks({3, 1, 1, 2}), 90);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->groups.size(), 2u);
  EXPECT_EQ(found->groups[0].ranks, std::vector<int>{0});
  EXPECT_EQ(found->groups[0].batch, 30);
  EXPECT_EQ(found->groups[1].batch, 45);
  EXPECT_NEAR(*found->balanced, 0.090 + 3 * 0.010, 1e-6);
  EXPECT_NE(stragglersText(*found, 4, 90).find("ranks 1 and 2 wait"), std::string::npos);
}

// There is no less than one sample.
TEST(StragglersTest, SaysWhereNoBatchWouldDo) {
  const auto found = stragglersOf(fourRanks({1, 1, 1, 31}), 30);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->balanced);
  EXPECT_NE(stragglersText(*found, 4, 30).find("even one sample there takes longer than"),
            std::string::npos);
}

// A rank that is faster than the others holds nobody up.
TEST(StragglersTest, AFasterRankIsNone) {
  EXPECT_FALSE(stragglersOf(fourRanks({0.5, 1, 1, 1}), 30));
  EXPECT_FALSE(stragglersOf(fourRanks({}), 30));
  EXPECT_FALSE(stragglersOf(fourRanks({2, 2, 2, 2}), 30));
}
