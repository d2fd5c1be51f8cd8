// Planning where messages slow computation, judged by exhaustive search with an event simulation.
#include "passes/problem/Interference.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/Planner.h"
#include "passes/solver/Replay.h"
#include "passes/solver/Solver.h"
#include "tests/reference/solver/ExhaustiveSearch.h"
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

/// The plan ends when the best of all combinations does in the event simulation, and the judge
/// accepts plan and certificate.
void expectSlowedBest(const Problem &problem) {
  ASSERT_TRUE(validate(problem).isOk()) << validate(problem).message();
  const double best = leastSlowedFinish(problem);
  const SolverResult result = solve(problem);
  ASSERT_NEAR(result.plan.finish, best, 1e-11 * best);
  ASSERT_NEAR(slowedFinish(problem, choicesOf(problem, result.plan)), best, 1e-11 * best);
  ASSERT_TRUE(result.optimal()) << result.gap();
  ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
}

/// Merging alone by one or two schemes.
Problem slowedMerging(std::uint64_t seed) {
  Random random(seed);
  Problem problem = randomMerging(random, 8);
  addLosses(random, problem);
  return problem;
}

/// The theorem of Interference.h: 1,000 instances.
TEST(SlowedComputation, MergingEqualsExhaustiveSearchWithEvents) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(expectSlowedBest(slowedMerging(seed)));
  }
}

/// Several merge classes, factors, piggybacks and limits.
TEST(SlowedComputation, EverythingEqualsExhaustiveSearchWithEvents) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Problem problem = randomSmallProblem(seed, 8, 2000);
    Random random(seed);
    addLosses(random, problem);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(expectSlowedBest(problem));
  }
}

/// The plan that the problem has without losses never ends earlier, on 2,000 instances.
TEST(SlowedComputation, NeverEndsAfterThePlanThatForgetsIt) {
  const auto optimal = *parsePlanner("optimal");
  const auto seeds = static_cast<std::uint64_t>(test::repeat(200, 2000));
  std::uint64_t shorter = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    ProblemMix mix{.layers = static_cast<std::size_t>(4 + random.below(37)),
                   .mergeClasses = static_cast<std::size_t>(1 + random.below(2))};
    mix.kind = allLayerKinds[random.below(std::size(allLayerKinds))];
    const Problem free = randomProblem(random, mix);
    Problem problem = free;
    addLosses(random, problem);
    const auto forgets = optimal->plan(free), counts = optimal->plan(problem);
    ASSERT_TRUE(forgets.isOk() && counts.isOk());
    const double before = slowedFinish(problem, choicesOf(free, forgets->plan)),
                 now = slowedFinish(problem, choicesOf(problem, counts->plan));
    ASSERT_NEAR(now, counts->plan.finish, 1e-11 * now) << "seed " << seed;
    ASSERT_LE(now, before * (1 + 1e-11)) << "seed " << seed;
    shorter += now < before * (1 - 1e-6);
  }
  EXPECT_GT(shorter, seeds / 4);
}

/// Steps of 400 gradients, all of which hide, some or none: gaps are at most 1 %.
TEST(SlowedComputation, LargeStepsHaveSmallGaps) {
  const auto optimal = *parsePlanner("optimal");
  for (double secondsPerByte : {1e-10, 1e-9, 1e-8})
    for (const Interference &interference : {Interference{1.2, 1.2}, {1.6, 1.2}, {1.3, 1.9}}) {
      Problem problem;
      const AffineCost cost(1e-4, secondsPerByte);
      problem.mergeClasses = {{{{.scheme = Scheme::ring,
                                 .cost = std::make_shared<AffineCost>(cost),
                                 .lost = lostCost(cost, interference)}}}};
      for (int k = 1; k <= 400; ++k)
        problem.layers.push_back({k % 3 == 0 ? 1 << 20 : 1 << 12, 1e-3 * k, 1, {}, {}});
      problem.computeFree = 0.4;
      const auto result = optimal->plan(problem);
      ASSERT_TRUE(result.isOk());
      EXPECT_LE(result->gap(), 0.01) << secondsPerByte << ", " << interference.beside;
      EXPECT_FALSE(checkProof(problem, result->proof, result->plan.finish, result->optimal()));
    }
}

/// Costs of zero in `lost` change nothing.
TEST(SlowedComputation, LosingNothingChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Problem free = randomSmallProblem(seed, 8, 2000);
    Problem problem = free;
    for (MergeClass &mergeClass : problem.mergeClasses)
      for (SchemeOption &option : mergeClass.options)
        option.lost = std::make_shared<AffineCost>(0, 0);
    const double finish = solve(free).plan.finish;
    ASSERT_NEAR(solve(problem).plan.finish, finish, 1e-11 * finish) << "seed " << seed;
  }
}

/// A message from 2 to 5 s takes 1 s: what is computed by 3 s otherwise is computed 0.5 s later.
TEST(SlowedComputation, ClockStandsStillForWhatMessagesTake) {
  ComputationClock clock;
  clock.add(0, 1, 0);
  clock.add(2, 5, 1);
  EXPECT_EQ(clock.at(1.5), 1.5);
  EXPECT_EQ(clock.at(3), 3.5);
  EXPECT_EQ(clock.at(4), 5);
  EXPECT_EQ(clock.at(6), 7);
  EXPECT_EQ(clock.lost(), 1);
}

/// A latency that falls where messages take less than it, and two straight pieces elsewhere.
TEST(SlowedComputation, LostCostFollowsEveryCost) {
  const Interference interference{1.25, 4};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    for (CostKind kind : allCostKinds)
      for (const SchemeOption &option : randomOptions(random, kind)) {
        const auto lost = lostCost(*option.cost, interference);
        for (int i = 0; i < 50; ++i) {
          const std::int64_t bytes = random.below(std::int64_t{1} << (1 + random.below(30)));
          const double seconds = option.cost->seconds(bytes);
          ASSERT_NEAR(lost->seconds(bytes), interference.lost(option.cost->seconds(0), seconds),
                      1e-9 * seconds);
        }
      }
  }
  EXPECT_EQ(lostCost(AffineCost(1, 1), {}), nullptr);
}

/// The latency of the largest message counts least for a byte, also far beyond a cost's corners.
TEST(SlowedComputation, LeastLostPerByteIsThatOfTheLargestMessage) {
  const auto latency = std::make_shared<AffineCost>(1024, 0);
  const MergeClass mergeClass{{{.scheme = Scheme::ring, .cost = latency, .lost = latency}}};
  EXPECT_EQ(leastLostPerByte(mergeClass, 1), 1024);
  EXPECT_EQ(leastLostPerByte(mergeClass, std::int64_t{1} << 50), 0x1p-40);
}

TEST(SlowedComputation, RefusesLossesAboveTheTime) {
  Problem problem = slowedMerging(1);
  problem.mergeClasses[0].options[0].lost = std::make_shared<AffineCost>(1e9, 0);
  EXPECT_NE(validate(problem).message().find("to take from computation at least 0 s"),
            std::string::npos);
  Problem byFactors = randomSmallProblem(3, 8, 2000);
  for (Layer &layer : byFactors.layers)
    for (FactorOption &option : layer.factorOptions)
      option.lost = option.seconds + 1;
  ASSERT_TRUE(slowsComputation(byFactors));
  EXPECT_NE(validate(byFactors).message().find("at most its time"), std::string::npos);
}

/// The judge refuses a plan that forgets the losses, bounds that are too high and lines that are
/// not under what messages take.
TEST(SlowedComputation, JudgeRefusesWhatForgetsLosses) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = slowedMerging(seed);
    Problem free = problem;
    for (SchemeOption &option : free.mergeClasses[0].options)
      option.lost = nullptr;
    const SolverResult result = solve(problem);
    const Solution forgets = replay(free, choicesOf(problem, result.plan));
    if (result.plan.finish > forgets.finish * (1 + 1e-9)) {
      EXPECT_TRUE(checkSolution(problem, forgets));
    }
    Certificate high = result.certificate;
    high.bound *= 1 + 1e-6;
    const auto beaten = checkBound(problem, high);
    ASSERT_TRUE(beaten);
    EXPECT_EQ(beaten->kind, RejectionKind::boundBeaten);
    Certificate steep = result.certificate;
    for (Relaxation &relaxation : steep.relaxations)
      relaxation.lines[0].latency = relaxation.lines[0].latency * 2 + 1;
    const auto above = checkBound(problem, steep);
    ASSERT_TRUE(above);
    EXPECT_EQ(above->kind, RejectionKind::notARelaxation);
  }
}

} // namespace
} // namespace syncline::solver
