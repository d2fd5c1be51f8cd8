// Planning where messages slow classes of operations unequally, judged by exhaustive search with an
// event simulation.
#include "passes/problem/OrderProblem.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/Planner.h"
#include "passes/solver/Replay.h"
#include "passes/solver/Solver.h"
#include "tests/reference/solver/SlowedStep.h"
#include "tests/support/Depth.h"
#include "tests/unit/solver/Accepted.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

namespace syncline::solver {

using namespace problem;
using namespace proof;
using namespace reference;
namespace {

/// How the search did against all combinations.
struct Record {
  int all = 0, equal = 0;
  double worst = 0; ///< how much later than the best its plan ends, relative
};

/// The plan ends when the event simulation says, the bound is not above the best of all
/// combinations, and the plan ends no later than those for equal and for least losses.
void expectSound(const Problem &problem, Record &record) {
  ASSERT_TRUE(validate(problem).isOk()) << validate(problem).message();
  const double best = leastSlowedFinish(problem);
  const SolverResult result = solve(problem);
  ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
  const double finish = result.plan.finish;
  ASSERT_NEAR(slowedFinish(problem, choicesOf(problem, result.plan)), finish, 1e-11 * finish);
  ASSERT_LE(result.bound(), best * (1 + 1e-11));
  for (const Problem &other : {withoutClasses(problem), withLeastLosses(problem)}) {
    const std::vector<Choice> choices = choicesOf(other, solve(other).plan);
    ASSERT_LE(finish, slowedFinish(problem, choices) * (1 + 1e-11));
  }
  ++record.all;
  record.equal += finish <= best * (1 + 1e-9);
  record.worst = std::max(record.worst, finish / best - 1);
}

void expectGood(const Record &record, double share, double worst) {
  std::printf("%d of %d plans are best, the worst ends %.3g %% later\n", record.equal, record.all,
              record.worst * 100);
  EXPECT_GE(record.equal, share * record.all);
  EXPECT_LE(record.worst, worst);
}

/// Merging alone by one or two schemes.
TEST(ClassedComputation, MergingIsSoundAndMostlyBest) {
  Record record;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    ProblemMix mix{.layers = static_cast<std::size_t>(1 + random.below(8)),
                   .mergeClasses = 1,
                   .factorShare = 0,
                   .onlyOneWay = 0,
                   .piggybacks = false};
    mix.cost = allCostKinds[random.below(std::size(allCostKinds))];
    mix.kind = allLayerKinds[random.below(std::size(allLayerKinds))];
    Problem problem = randomProblem(random, mix);
    addClasses(random, problem);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, record));
  }
  expectGood(record, 0.98, 0.02);
}

/// Several merge classes, factors, piggybacks and limits.
TEST(ClassedComputation, EverythingIsSoundAndMostlyBest) {
  Record record;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomSmallProblem(seed, 8, 2000);
    Random random(seed);
    addClasses(random, problem);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, record));
  }
  expectGood(record, 0.98, 0.02);
}

/// One message of 1 s that takes half a second from what runs from 1 to 2 s, and nothing else. A
/// start at 1 s ends the step at 4.5 s, one at 2 s at 4 s.
TEST(ClassedComputation, ALaterStartMayBeTheBetterOne) {
  Problem problem;
  SchemeOption option{Scheme::ring, std::make_shared<AffineCost>(1, 0)};
  option.lostBy[WorkClass::memory] = std::make_shared<AffineCost>(0.5, 0);
  problem.mergeClasses = {{{option}}};
  problem.computeFree = 4;
  problem.memoryBound = {{1, 2}};
  for (double ready : {1.0, 2.0}) {
    problem.layers = {{4, ready, 1}};
    EXPECT_EQ(solve(problem).plan.finish, ready == 1 ? 4.5 : 4);
    EXPECT_EQ(mostLost(problem, solve(problem).plan), 0.5);
  }
}

/// A plan's bound counts the least that a class loses, an order's the number for all where that is
/// less, because its period does.
TEST(ClassedComputation, LeastLosses) {
  Problem problem;
  SchemeOption option{Scheme::ring, std::make_shared<AffineCost>(1, 0)};
  option.lost = std::make_shared<AffineCost>(0.125, 0);
  option.lostBy = {{std::make_shared<AffineCost>(0.5, 0), std::make_shared<AffineCost>(0.25, 0)}};
  FactorOption factors{Scheme::factors, 1, 0, 0, 0, 0.125, {{0.25, 0.5}}};
  problem.mergeClasses = {{{option}}};
  problem.layers = {{4, 1, 1, {factors}}};
  EXPECT_EQ(withLeastLosses(problem).layers[0].factorOptions[0].lost, 0.125);
  problem.computeFree = 4;
  problem.memoryBound = {{1, 2}};
  const auto expect = [](const Problem &least, double lost) {
    EXPECT_FALSE(tellsClasses(least));
    EXPECT_EQ(least.mergeClasses[0].options[0].lostSeconds(4), lost);
    EXPECT_EQ(least.layers[0].factorOptions[0].lost, lost);
  };
  expect(withLeastLosses(problem), 0.25);
  expect(withLeastLosses(OrderProblem{.sync = problem, .tail = {0}}).sync, 0.125);
}

/// A message from 2 to 5 s. Up to 3 s of computation all runs at half the speed, then at full.
TEST(ClassedComputation, ClockFollowsTheClasses) {
  Problem problem;
  problem.memoryBound = {{0, 3}};
  ComputationClock clock(problem);
  clock.add(2, 5, Loss{{0, 1.5}});
  EXPECT_EQ(clock.at(2), 2);
  EXPECT_EQ(clock.at(2.5), 3);
  EXPECT_EQ(clock.at(3), 4);
  EXPECT_EQ(clock.at(4), 5);
  EXPECT_EQ(clock.lost(), 1);
  EXPECT_EQ(WorkSchedule(problem).lost(2, 3, Loss{{0, 1.5}}), 1);
  EXPECT_EQ(WorkSchedule(problem).lost(3, 3, Loss{{0, 1.5}}), 0);
}

/// Rules' plans have the bound of the least losses, and end when the simulation says.
TEST(ClassedComputation, EveryPlannerIsJudged) {
  const auto seeds = static_cast<std::uint64_t>(test::repeat(100, 1000));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    Problem problem =
        randomProblem(random, {.layers = static_cast<std::size_t>(4 + random.below(37)),
                               .mergeClasses = 1,
                               .factorShare = 0,
                               .onlyOneWay = 0,
                               .piggybacks = false});
    addClasses(random, problem);
    const auto optimal = (*parsePlanner("optimal"))->plan(problem);
    ASSERT_TRUE(optimal.isOk());
    for (const char *name : {"optimal", "wfbp", "ddp:1MiB", "single"}) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      const auto result = (*parsePlanner(name))->plan(problem);
      ASSERT_TRUE(result.isOk()) << result.status().message();
      const double finish = result->plan.finish;
      ASSERT_NEAR(slowedFinish(problem, choicesOf(problem, result->plan)), finish, 1e-11 * finish);
      ASSERT_FALSE(checkSolution(problem, result->plan));
      ASSERT_EQ(checkProof(problem, result->proof, finish, false), std::nullopt);
      ASSERT_LE(optimal->plan.finish, finish * (1 + 1e-11));
    }
  }
}

/// The judge refuses times that count equal losses.
TEST(ClassedComputation, JudgeRefusesWhatForgetsClasses) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Problem problem = randomSmallProblem(seed, 8, 2000);
    Random random(seed);
    addClasses(random, problem);
    const Problem alike = withoutClasses(problem);
    const Solution forgets = replay(alike, choicesOf(problem, solve(problem).plan));
    refused += checkSolution(problem, forgets).has_value();
  }
  EXPECT_GT(refused, 25);
}

TEST(ClassedComputation, RefusesWhatIsNoSchedule) {
  Problem problem = randomSmallProblem(1, 8, 2000);
  problem.memoryBound = {{0, 2}, {1, 3}};
  EXPECT_NE(validate(problem).message().find("memory-bound operations in ascending order"),
            std::string::npos);
  problem.memoryBound = {{0, problem.computeFree + 1}};
  EXPECT_NE(validate(problem).message().find("up to the end of the backward pass"),
            std::string::npos);
  problem.memoryBound = {{0, problem.computeFree}};
  EXPECT_TRUE(validate(problem).isOk());
  problem.mergeClasses[0].options[0].lostBy[WorkClass::memory] =
      std::make_shared<AffineCost>(1e9, 0);
  EXPECT_NE(validate(problem).message().find("at most their time"), std::string::npos);
}

} // namespace
} // namespace syncline::solver
