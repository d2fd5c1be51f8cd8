// The decisions of one problem, carried over to another of the same gradients.
#include "passes/solver/CommonPlanner.h"

#include "passes/proof/SolutionChecker.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

namespace syncline::solver {
namespace {

Problem problemOfSeed(std::uint64_t seed) { return randomSmallProblem(seed, 6, 100'000); }

/// The problem of a step that takes `factor` times as long.
Problem slower(Problem problem, double factor) {
  for (Layer &layer : problem.layers)
    layer.ready *= factor;
  problem.computeFree *= factor;
  return problem;
}

std::vector<std::vector<std::size_t>> layersOf(const Solution &solution) {
  std::vector<std::vector<std::size_t>> layers;
  for (const Message &message : solution.messages)
    layers.push_back(message.layers);
  return layers;
}

TEST(CommonPlanner, KeepsMessagesAndSchemesAtOtherTimes) {
  const auto optimal = *parsePlanner("optimal");
  int differs = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Problem decided = problemOfSeed(seed), other = slower(decided, 20);
    const Result<PlanResult> first = optimal->plan(decided);
    ASSERT_TRUE(first.isOk()) << first.status().message();
    const Result<PlanResult> second = commonPlanner(decided, first->plan)->plan(other);
    ASSERT_TRUE(second.isOk()) << second.status().message();
    EXPECT_FALSE(proof::checkSolution(other, second->plan)) << "seed " << seed;
    EXPECT_EQ(layersOf(second->plan), layersOf(first->plan)) << "seed " << seed;
    EXPECT_EQ(second->plan.piggybacks, first->plan.piggybacks);
    for (std::size_t i = 0; i < first->plan.messages.size(); ++i)
      EXPECT_EQ(second->plan.scheme(other, second->plan.messages[i]),
                first->plan.scheme(decided, first->plan.messages[i]));
    EXPECT_GE(second->plan.finish, second->bound * (1 - 1e-9));
    differs += layersOf(optimal->plan(other)->plan) != layersOf(first->plan);
  }
  EXPECT_GT(differs, 0); // or the planner would have nothing to keep
}

TEST(CommonPlanner, RefusesOtherGradients) {
  const Problem decided = problemOfSeed(3);
  const auto common = commonPlanner(decided, (*parsePlanner("optimal"))->plan(decided)->plan);
  EXPECT_EQ(common->name(), "common");
  Problem fewer = decided;
  fewer.layers.pop_back();
  EXPECT_NE(common->plan(fewer).status().message().find("this step has"), std::string::npos);
  Problem larger = decided;
  larger.layers.front().bytes += 4;
  EXPECT_NE(common->plan(larger).status().message().find("gradient 1 has another size"),
            std::string::npos);
  Problem elsewhere = decided;
  elsewhere.mergeClasses.front().options.pop_back();
  EXPECT_NE(common->plan(elsewhere).status().message().find("other schemes"), std::string::npos);
}

TEST(CommonPlanner, PlansNothingByItsNameAlone) {
  const auto planner = plannerOfPlan("common");
  ASSERT_TRUE(planner.isOk());
  EXPECT_FALSE((*planner)->plansAnew());
  EXPECT_EQ((*planner)->plan(problemOfSeed(1)).status().message(),
            "planner 'common': plans only in 'syncline compile'");
  EXPECT_FALSE(parsePlanner("common").isOk());
}

} // namespace
} // namespace syncline::solver
