// Plans without factors and rows, or with dear ones: judged by exhaustive search.
#include "passes/solver/Gathering.h"

#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/Planner.h"
#include "passes/solver/Replay.h"
#include "tests/reference/solver/ExhaustiveSearch.h"
#include "tests/unit/solver/RandomOrderProblem.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

namespace syncline::solver {

using namespace problem;
using namespace proof;
namespace {

/// The layers that have to gather, since no merge class takes them.
bool mustGather(const Problem &problem, const Message &message) {
  return problem.layers[message.layers.front()].mergeClasses == 0;
}

/// Writes the problem down without what can be left out.
Problem summed(const Problem &problem) {
  Problem sums = problem;
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    const Layer &layer = problem.layers[k];
    if (layer.mergeClasses != 0)
      sums.layers[k].factorOptions = {};
    if (layer.carrier && problem.layers[*layer.carrier].mergeClasses != 0)
      sums.layers[k].carrier = {};
  }
  return sums;
}

} // namespace

/// 500 mixed instances: the plan is the best of all combinations that gather no more than they
/// must, solves the problem with all its options, and its bound is that of all plans.
TEST(Gathering, EqualsExhaustiveSearch) {
  const std::shared_ptr<const Planner> sums = sumsPlanner();
  int gathered = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = randomSmallProblem(20000 + seed, 9, 5000);
    const Result<PlanResult> result = sums->plan(problem);
    if (!result) { // limits leave some layer no other way
      EXPECT_FALSE(validate(summed(problem)).isOk());
      ++refused;
      continue;
    }
    const auto rejection = checkSolution(problem, result->plan);
    ASSERT_FALSE(rejection) << rejection->message;
    for (const Message &message : result->plan.messages)
      ASSERT_TRUE(!message.isFactors || mustGather(problem, message));
    const auto best = reference::exhaustiveSolution(summed(problem));
    ASSERT_TRUE(best);
    ASSERT_NEAR(result->plan.finish, best->finish, 1e-11 * best->finish);
    const Result<PlanResult> all = (*parsePlanner("optimal"))->plan(problem);
    ASSERT_TRUE(all.isOk());
    EXPECT_NEAR(result->bound, all->bound, 1e-11 * all->bound);
    gathered += result->plan.finish > all->plan.finish * (1 + 1e-9);
  }
  EXPECT_GE(gathered, 20) << "of 500 are slower without, so that the test says something";
  EXPECT_LE(refused, 100);
}

/// 300 mixed instances: choices are the best where factors take four times as long, times and bound
/// are those of the problem as it is.
TEST(Gathering, ChoosesByThePrice) {
  const std::shared_ptr<const Planner> dear = microBatchesPlanner(4);
  int other = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = randomSmallProblem(30000 + seed, 9, 5000);
    Problem priced = problem;
    for (Layer &layer : priced.layers)
      for (FactorOption &option : layer.factorOptions) {
        option.seconds = 4 * option.seconds;
        option.reconstruct = 4 * option.reconstruct;
      }
    const Result<PlanResult> result = dear->plan(problem),
                             all = (*parsePlanner("optimal"))->plan(problem);
    ASSERT_TRUE(result.isOk() && all.isOk());
    const auto rejection = checkSolution(problem, result->plan);
    ASSERT_FALSE(rejection) << rejection->message;
    const double best = reference::exhaustiveSolution(priced)->finish;
    EXPECT_NEAR(replay(priced, choicesOf(problem, result->plan)).finish, best, 1e-11 * best);
    EXPECT_NEAR(result->bound, all->bound, 1e-11 * all->bound);
    EXPECT_GE(result->plan.finish, all->plan.finish * (1 - 1e-11));
    other += choicesOf(problem, result->plan) != choicesOf(problem, all->plan);
  }
  EXPECT_GE(other, 20) << "of 300 are chosen otherwise, so that the test says something";
}

/// Four micro-batches: a gradient of 10 s travels by factors of 1 s in each, one of 2 s as a sum.
TEST(Gathering, DecidesLayerByLayer) {
  Problem problem;
  problem.mergeClasses = {{{{Scheme::ring, std::make_shared<AffineCost>(0, 0.1)}}}};
  for (const std::int64_t bytes : {20, 100})
    problem.layers.push_back(
        {.bytes = bytes, .ready = 1, .mergeClasses = 1, .factorOptions = {{.seconds = 1}}});
  problem.computeFree = 1;
  const auto byFactors = [&](const char *planner) {
    std::vector<std::size_t> layers;
    const Result<PlanResult> result = (*plannerOfPlan(planner))->plan(problem);
    EXPECT_TRUE(result.isOk()) << planner;
    for (const Message &message : result->plan.messages)
      if (message.isFactors)
        layers.push_back(message.layers.front());
    return layers;
  };
  EXPECT_EQ(byFactors("optimal"), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(byFactors("micro-batches:4"), std::vector<std::size_t>{1});
  EXPECT_EQ(byFactors("sums"), std::vector<std::size_t>());
}

/// 40 orders gather nothing, solve the problem with all its options, and do not beat its bound.
TEST(Gathering, OrdersWithoutGathering) {
  const std::shared_ptr<const Planner> sums = sumsPlanner();
  int offered = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const ProblemMix mix{.layers = 12, .mergeClasses = 1, .factorShare = 0.5, .onlyOneWay = 0};
    const OrderProblem problem = randomOrderProblem(random, randomProblem(random, mix), false);
    if (!validate(problem))
      continue;
    const Result<OrderResult> result = planOrder(problem, *sums);
    ASSERT_TRUE(result.isOk()) << result.status().message();
    const auto rejection = checkOrder(problem, result->solution);
    ASSERT_FALSE(rejection) << rejection->message;
    for (const OrderMessage &message : result->solution.messages)
      EXPECT_FALSE(message.isFactors);
    EXPECT_GE(result->solution.period, result->certificate.bound * (1 - 1e-11));
    ++offered;
  }
  EXPECT_GE(offered, 20);
}

} // namespace syncline::solver
