// Steps whose operations scatter as recorded: which rank meets which recorded step, and predictions
// beside reckonings by hand.
#include "passes/simulate/IssueOrder.h"
#include "passes/simulate/Prediction.h"
#include "tests/unit/simulate/Scenes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace syncline;
using namespace syncline::simulate;

namespace {

/// Forward 1 s, backward 2 s with a message of 2 s after the first, then an update of 0.75 s.
Scenario barrier(Scatter scatter) { return barrierScene(std::move(scatter), 2, 2, 0.75); }

/// A step like barrier()'s, but the next one waits for the message behind its forward pass.
Scenario order(Scatter scatter) {
  Scenario scenario = barrier(std::move(scatter));
  auto &operations = scenario.operations;
  std::rotate(operations.begin() + 1, operations.end() - 2, operations.end());
  return scenario;
}

double stepOf(const Scenario &scenario) {
  const Result<Prediction> prediction = predictStep(scenario);
  EXPECT_TRUE(prediction) << prediction.status().message();
  return prediction ? prediction->step : 0;
}

/// One rank that takes twice as long in every other step, beside one that never does.
const Scatter everyOther = {{{1, 2}, {1, 1}}};

} // namespace

// The message hides 1 s of what the slow rank takes longer: 4.75 s and 7.5 s take turns.
TEST(Scatter, OfABarrier) {
  EXPECT_DOUBLE_EQ(stepOf(barrier({})), 4.75);
  const Result<Prediction> prediction = predictStep(barrier(everyOther));
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->step, (4.75 + 7.5) / 2);
  EXPECT_DOUBLE_EQ(prediction->forwardEnd, 1.5);
  EXPECT_DOUBLE_EQ(prediction->backwardEnd, 4.5);
  EXPECT_DOUBLE_EQ(prediction->messages[0].ready, 3);
  EXPECT_DOUBLE_EQ(prediction->messages[0].exposed, 0.5);
  EXPECT_EQ(prediction->ranks, 2);
}

// An order that hides the message whole has nothing that hides a slow rank: it loses as much as the
// rank does.
TEST(Scatter, OfAnOrder) {
  EXPECT_DOUBLE_EQ(stepOf(order({})), 3.75);
  EXPECT_DOUBLE_EQ(stepOf(order(everyOther)), 3.75 * 1.5);
}

// What a step takes beside its operations scatters as they do.
TEST(Scatter, OfTheOverhead) {
  Scenario scenario = barrier(everyOther);
  addOverhead(scenario, 0.25);
  EXPECT_DOUBLE_EQ(stepOf(scenario), (4.75 + 0.25 + 7.5 + 0.5) / 2);
}

// Random factors, against the recursion from one step's ends to the next one's.
TEST(Scatter, AgreesWithARecursion) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> factor(0.5, 2);
  for (int trial = 0; trial < 20; ++trial) {
    Scatter scatter{{{}, {}, {}}};
    for (std::vector<double> &rank : scatter.factors)
      for (int step = 0; step < 10; ++step)
        rank.push_back(factor(random));
    Scenario scenario = barrier(scatter);
    scenario.machines.ranks = 3;
    constexpr int steps = 70; // whole rounds of 10, 64 at least
    double end[3] = {0, 0, 0};
    for (int step = 0; step < steps; ++step) {
      double start = 0;
      for (int rank = 0; rank < 3; ++rank)
        start = std::max(start, end[rank] + 2 * scatter.factors[rank][step % 10]);
      for (int rank = 0; rank < 3; ++rank) {
        const double own = scatter.factors[rank][step % 10];
        end[rank] = std::max(start + 2, end[rank] + 3 * own) + 0.75 * own;
      }
    }
    EXPECT_NEAR(stepOf(scenario), *std::ranges::max_element(end) / steps, 1e-12);
  }
}

// Without replaying, every rank takes as long as the slowest in the mean: 1.5 times as long.
TEST(Scatter, InTheMeanIsThatOfTheSlowest) {
  const Result<Simulation> simulation = runScenario(barrier(everyOther));
  ASSERT_TRUE(simulation);
  EXPECT_TRUE(simulation->isFolded);
  EXPECT_DOUBLE_EQ(simulation->stepEnd(0), 1.5 * 2 + 2 + 1.5 * 0.75);
}

// The groups of ranks begin at any recorded step: the mean over all pairs of these.
TEST(Scatter, SlowestOfSeveralGroups) {
  const Scatter scatter{{{1, 1.5, 1.25, 1}, {1.125, 1, 2, 0.5}}};
  const auto group = [&](int step, int ranks) {
    double slowest = 0;
    for (int rank = 0; rank < ranks; ++rank)
      slowest = std::max(
          slowest, scatter.factors[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)]);
    return slowest;
  };
  double one = 0, both = 0, three = 0, four = 0;
  for (int i = 0; i < 4; ++i) {
    one += group(i, 1) / 4;
    both += group(i, 2) / 4;
    for (int j = 0; j < 4; ++j) {
      three += std::max(group(i, 2), group(j, 1)) / 16;
      four += std::max(group(i, 2), group(j, 2)) / 16;
    }
  }
  EXPECT_DOUBLE_EQ(scatter.slowest(1), one);
  EXPECT_DOUBLE_EQ(scatter.slowest(2), both);
  EXPECT_DOUBLE_EQ(scatter.slowest(3), three);
  EXPECT_DOUBLE_EQ(scatter.slowest(4), four);
  EXPECT_NEAR(scatter.slowest(1'000'000), 2, 1e-12);
  EXPECT_EQ(Scatter().slowest(7), 1);
}

// A group goes through the recorded steps in their order and all of them once in a round. Over many
// rounds groups meet as slowest() says, and the same seed gives the same factors.
TEST(Scatter, GroupsBeginAnywhere) {
  const Scatter scatter{{{1, 1.5, 1.25, 1}, {1.125, 1, 2, 0.5}}};
  constexpr int rounds = 20'000;
  double mean = 0;
  for (int step = 0; step < 4 * rounds; ++step) {
    double slowest = 0;
    for (int rank = 0; rank < 4; ++rank) {
      slowest = std::max(slowest, scatter.of(rank, step, 3));
      EXPECT_EQ(scatter.of(rank, step, 3), scatter.of(rank, step, 3));
    }
    mean += slowest / (4 * rounds);
  }
  EXPECT_NEAR(mean, scatter.slowest(4), 0.01);
  for (int round = 0; round < 8; ++round) {
    std::vector<double> met;
    for (int step = 0; step < 4; ++step)
      met.push_back(scatter.of(2, 4 * round + step, 0));
    const auto first = std::ranges::find(met, 1.5);
    ASSERT_NE(first, met.end());
    std::rotate(met.begin(), first, met.end());
    EXPECT_EQ(met, (std::vector<double>{1.5, 1.25, 1, 1}));
  }
}

// More ranks than can be followed: all take as long as the slowest of them in the mean.
TEST(Scatter, IsBounded) {
  Scenario scenario = barrier(everyOther);
  scenario.machines.ranks = 1'000'000;
  const Result<Prediction> prediction = predictStep(scenario);
  ASSERT_TRUE(prediction);
  EXPECT_EQ(prediction->ranks, 1);
  EXPECT_NEAR(prediction->step, 2 * 2 + 2 + 2 * 0.75, 1e-9);
}

// Factors that are none are refused.
TEST(Scatter, RefusesWhatIsNoFactor) {
  const auto refused = [](Scatter scatter) {
    return predictStep(barrier(std::move(scatter))).status().message();
  };
  EXPECT_EQ(refused({{{1, 0}}}),
            "scenario: scatter: expected factors above 0 and up to 1000, got 0.000000");
  for (double factor : {-1.0, 1001.0, std::nan(""), 1 / 0.0})
    EXPECT_NE(refused({{{factor}}}).find("expected factors above 0"), std::string::npos);
  EXPECT_EQ(refused({{{1, 1}, {1}}}),
            "scenario: scatter: expected as many factors of every rank, at least one");
  EXPECT_NE(refused({{{}}}).find("at least one"), std::string::npos);
}
