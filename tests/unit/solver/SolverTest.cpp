// The joint planner against exhaustive search and Z3, and what its plans look like.
#include "passes/solver/Solver.h"

#include "passes/proof/SolutionChecker.h"
#include "passes/solver/FinishTimes.h"
#include "passes/solver/Replay.h"
#include "passes/z3/Z3Judge.h"
#include "tests/reference/solver/ExhaustiveSearch.h"
#include "tests/support/Depth.h"
#include "tests/support/ProblemBuilder.h"
#include "tests/unit/solver/Accepted.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

namespace syncline::solver {

using namespace problem;
using namespace proof;
using namespace reference;
using namespace z3judge;
namespace {

/// The plan ends when the best of all combinations does, and the certificate proves it.
void expectBest(const Problem &problem) {
  SolverResult result = solve(problem);
  std::optional<Solution> best = exhaustiveSolution(problem);
  ASSERT_TRUE(best);
  ASSERT_NEAR(result.plan.finish, best->finish, 1e-11 * best->finish);
  ASSERT_TRUE(result.optimal()) << result.gap();
  ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
}

/// 1,000 mixed instances of up to 10 layers, costs that fall and limits that bind among them.
TEST(Solve, EqualsExhaustiveSearch) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Problem problem = randomSmallProblem(seed, 10, 20000);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(expectBest(problem));
  }
}

/// 600 mixed instances, 100 in a short run: labels, exhaustive search and Z3 agree. Z3 is asked, in
/// exact arithmetic, whether a plan ends by the optimum and whether one ends a billionth earlier.
TEST(Solve, EqualsExhaustiveSearchAndZ3) {
  if (!z3judge::checkAvailable())
    GTEST_SKIP() << z3judge::checkAvailable().message();
  const std::uint64_t seeds = test::repeat(100, 600);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Problem problem = randomSmallProblem(10000 + seed, 10, 3000);
    SCOPED_TRACE("seed " + std::to_string(10000 + seed));
    double finish = solve(problem).plan.finish;
    ASSERT_NEAR(finish, exhaustiveSolution(problem)->finish, 1e-11 * finish);
    Result<bool> reachable = canFinishBy(problem, finish * (1 + 1e-9));
    Result<bool> beatable = canFinishBy(problem, finish * (1 - 1e-9));
    ASSERT_TRUE(reachable.isOk()) << reachable.status().message();
    ASSERT_TRUE(beatable.isOk()) << beatable.status().message();
    EXPECT_TRUE(*reachable);
    EXPECT_FALSE(*beatable);
  }
}

/// Where all layers share one merge class the choice is merging alone: both planners end together.
TEST(Solve, EqualsMergingAloneWithOneMergeClass) {
  std::uint64_t seed = 0;
  for (CostKind cost : allCostKinds)
    for (LayerKind kind : allLayerKinds) {
      Random random(++seed);
      MergeProblem merge = randomProblem(random, cost, kind, 40);
      Problem problem = problemOf(merge);
      SCOPED_TRACE("seed " + std::to_string(seed));
      SolverResult result = solve(problem);
      double expected = std::max(earliestFinishTimes(merge).back(), problem.computeFree);
      ASSERT_TRUE(result.optimal());
      ASSERT_NEAR(result.plan.finish, expected, 1e-11 * expected);
    }
}

/// 120 instances of up to 120 layers with labels rationed: whatever is cut, the plan is valid, the
/// bound holds and is below what a wider search finds.
TEST(Solve, ReportsTheGapWhenLabelsAreCut) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Random random(seed);
    ProblemMix mix;
    mix.layers = 20 + static_cast<std::size_t>(random.below(100));
    mix.mergeClasses = 2;
    mix.cost = CostKind::affine;
    mix.kind = allLayerKinds[seed % 7];
    mix.limits = seed % 3 == 0;
    Problem problem = randomProblem(random, mix);
    if (!validate(problem).isOk())
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    SolverResult narrow = solve(problem, {.width = 3, .labels = 0});
    SolverResult wide = solve(problem, {.width = 60, .labels = 0});
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, narrow));
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, wide));
    EXPECT_LE(narrow.bound(), wide.plan.finish * (1 + 1e-11));
    cut += !narrow.optimal();
  }
  EXPECT_GT(cut, 10);
}

/// Merge classes that every layer may use offer all that one merge class with their schemes does:
/// however few states the search keeps, the plan is no worse.
TEST(Solve, IsNoWorseWithMergeClassesOfTheirOwn) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    ProblemMix mix;
    mix.layers = 60;
    mix.mergeClasses = 2;
    mix.onlyOneWay = 0;
    mix.cost = CostKind::affine;
    mix.kind = allLayerKinds[seed % 7];
    Problem mergeClasses = randomProblem(random, mix), merged = mergeClasses;
    merged.mergeClasses.resize(1);
    merged.mergeClasses[0].options.push_back(mergeClasses.mergeClasses[1].options[0]);
    for (Layer &layer : merged.layers)
      layer.mergeClasses = 1;
    SolverResult one = solve(merged), few = solve(mergeClasses, {.width = 4, .labels = 0});
    ASSERT_TRUE(one.optimal()) << "seed " << seed;
    EXPECT_LE(few.plan.finish, one.plan.finish * (1 + 1e-11)) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(expectAccepted(mergeClasses, few));
  }
}

/// An all-reduce bucket stays open across a layer that goes by factors.
TEST(Solve, SkipsALayerThatGoesByFactors) {
  Problem problem;
  problem.mergeClasses = {
      {.options = {
           {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(1, 1e-2), .traffic = 4}}}};
  problem.layers = {
      {.bytes = 100, .ready = 0.0, .mergeClasses = 1, .factorOptions = {}, .carrier = {}},
      {.bytes = 10000,
       .ready = 0.5,
       .mergeClasses = 1,
       .factorOptions = {{.seconds = 2, .reconstruct = 0.25}},
       .carrier = {}},
      {.bytes = 100, .ready = 1.0, .mergeClasses = 1, .factorOptions = {}, .carrier = {}}};
  problem.computeFree = 1;
  SolverResult result = solve(problem);
  ASSERT_EQ(result.plan.messages.size(), 2u);
  EXPECT_TRUE(result.plan.messages[0].isFactors);
  EXPECT_EQ(result.plan.messages[1].layers, (std::vector<std::size_t>{0, 2}));
  EXPECT_DOUBLE_EQ(result.plan.messages[0].reconstructed, 2.75);
  EXPECT_DOUBLE_EQ(result.plan.finish, 5.5); // 0.5 + 2, then 1 + 0.01 * 200
  EXPECT_TRUE(result.optimal());
}

/// A bias needs no message when its layer goes by factors, whichever is ready first.
TEST(Solve, LetsABiasRide) {
  for (bool biasFirst : {false, true}) {
    Problem problem;
    problem.mergeClasses = {
        {.options = {
             {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(1, 1), .traffic = 4}}}};
    Layer weight{.bytes = 100,
                 .ready = 0.0,
                 .mergeClasses = 1,
                 .factorOptions = {{.seconds = 3}},
                 .carrier = {}};
    Layer bias{.bytes = 1,
               .ready = 0.0,
               .mergeClasses = 1,
               .factorOptions = {},
               .carrier = biasFirst ? 1u : 0u};
    problem.layers = biasFirst ? std::vector{bias, weight} : std::vector{weight, bias};
    SolverResult result = solve(problem);
    EXPECT_EQ(result.plan.piggybacks, (std::vector<std::size_t>{biasFirst ? 0u : 1u}));
    EXPECT_DOUBLE_EQ(result.plan.finish, 3);
  }
}

/// Factors that arrive early but take long to reconstruct lose to an all-reduce that takes as long.
/// 300 mixed instances in which every carrier must travel alone and some piggybacks have no way but
/// to ride: again as good as the best of all combinations.
TEST(Solve, LetsPiggybacksHaveNoMergeClass) {
  int bound = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Problem problem = randomSmallProblem(20000 + seed, 10, 20000);
    SCOPED_TRACE("seed " + std::to_string(20000 + seed));
    for (std::size_t k = 0; k < problem.layers.size(); ++k)
      if (auto carrier = problem.layers[k].carrier; carrier && !problem.layers[*carrier].carrier) {
        problem.layers[*carrier].mergeClasses = 0;
        problem.layers[k].mergeClasses = k % 3 == 0 ? problem.layers[k].mergeClasses : 0;
        bound +=
            problem.layers[k].mergeClasses == 0 && problem.layers[k].factorOptions.empty() ? 1 : 0;
      }
    ASSERT_TRUE(validate(problem).isOk()) << validate(problem).message();
    ASSERT_NO_FATAL_FAILURE(expectBest(problem));
  }
  EXPECT_GT(bound, 50);
}

TEST(Solve, CountsReconstruction) {
  Problem problem;
  problem.mergeClasses = {
      {.options = {
           {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(0, 1), .traffic = 4}}}};
  problem.layers = {{.bytes = 10,
                     .ready = 0.0,
                     .mergeClasses = 1,
                     .factorOptions = {{.seconds = 5, .reconstruct = 6}},
                     .carrier = {}}};
  SolverResult result = solve(problem);
  EXPECT_FALSE(result.plan.messages.front().isFactors);
  problem.layers[0].factorOptions[0].reconstruct = 4;
  EXPECT_DOUBLE_EQ(solve(problem).plan.finish, 9);
}

/// A decoder's backward pass: four matrices a block that can go by factors, their biases, norms.
std::vector<Gradient> transformer(std::size_t blocks, std::int64_t width, std::int64_t tokens) {
  std::vector<Gradient> gradients;
  double ready = 0;
  auto add = [&](std::int64_t bytes, std::optional<FactorShape> shape,
                 std::optional<std::size_t> carrier) {
    ready += 5e-5 + static_cast<double>(bytes) * 4e-10;
    gradients.push_back({bytes, ready, {}, carrier});
    if (shape)
      gradients.back().factors = factorsOf(*shape, 1e13);
  };
  for (std::size_t block = 0; block < blocks; ++block) {
    for (auto [inputs, outputs] :
         {std::pair{4 * width, width}, {width, 4 * width}, {width, width}, {width, 3 * width}}) {
      std::size_t weight = gradients.size();
      add(inputs * outputs * 4, FactorShape{inputs, outputs, tokens}, std::nullopt);
      add(outputs * 4, std::nullopt, weight);
    }
    for (int norm = 0; norm < 4; ++norm)
      add(width * 4, std::nullopt, std::nullopt);
  }
  add(50257 * width * 4, std::nullopt, std::nullopt);
  return gradients;
}

/// Plans for 24 blocks on networks of four speeds are within a thousandth of the proven bound, and
/// the proof holds.
TEST(Solve, PlansATransformerWithinAThousandth) {
  for (double gigabit : {1.0, 10.0, 40.0, 100.0})
    for (std::int64_t tokens : {16, 128, 2048}) {
      ClusterSchemes catalog;
      catalog.ranks = 8;
      LinkRates link{2e-5, 8e-9 / gigabit, 1e-11};
      catalog.collectives = formulaCollectives(8, link);
      catalog.factorGather = std::make_shared<AffineCost>(allGatherCost(8, link));
      std::vector<Gradient> gradients = transformer(24, 1024, tokens);
      Problem problem = buildProblem(gradients, catalog, gradients.back().ready);
      ASSERT_TRUE(validate(problem).isOk());
      SCOPED_TRACE(std::to_string(gigabit) + " Gb/s, " + std::to_string(tokens) + " tokens");
      SolverResult result = solve(problem);
      EXPECT_LT(result.gap(), 1e-3);
      ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
    }
}

TEST(Solve, PlansNothingForNoLayers) {
  Problem problem;
  problem.mergeClasses = {
      {.options = {
           {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(1, 1), .traffic = 4}}}};
  problem.computeFree = 2;
  SolverResult result = solve(problem);
  EXPECT_TRUE(result.plan.messages.empty());
  EXPECT_EQ(result.plan.finish, 2);
  EXPECT_TRUE(result.optimal());
  expectAccepted(problem, result);
}

TEST(Solve, GivesTheSameBitsTwice) {
  Random random(5);
  ProblemMix mix;
  mix.layers = 80;
  Problem problem = randomProblem(random, mix);
  SolverResult first = solve(problem), second = solve(problem);
  EXPECT_EQ(choicesOf(problem, first.plan), choicesOf(problem, second.plan));
  EXPECT_EQ(first.certificate.bound, second.certificate.bound);
}

/// Where the channel waits for the backward pass anyway, early layers share a message.
TEST(Solve, MergesWhereItCostsNothing) {
  Problem problem;
  problem.mergeClasses = {
      {.options = {
           {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(1, 0.01), .traffic = 4}}}};
  problem.layers = {
      {.bytes = 100, .ready = 0.0, .mergeClasses = 1, .factorOptions = {}, .carrier = {}},
      {.bytes = 100, .ready = 0.1, .mergeClasses = 1, .factorOptions = {}, .carrier = {}},
      {.bytes = 100, .ready = 10.0, .mergeClasses = 1, .factorOptions = {}, .carrier = {}}};
  problem.computeFree = 10;
  SolverResult result = solve(problem);
  EXPECT_EQ(result.plan.messages.size(), 2u);
  EXPECT_DOUBLE_EQ(result.plan.finish, 12);
}

} // namespace
} // namespace syncline::solver
