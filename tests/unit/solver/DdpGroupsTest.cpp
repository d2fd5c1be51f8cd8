// DDP's buckets by a list, where messages slow computation.
#include "passes/problem/Interference.h"
#include "passes/solver/Planner.h"
#include "passes/solver/Replay.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace syncline::solver {

using namespace problem;

namespace {

constexpr std::int64_t mib = 1 << 20;

/// Merging alone by one scheme whose messages take from computation what `slow` draws; some layers
/// share a module.
Problem slowedMerging(std::uint64_t seed, void (*slow)(Random &, Problem &)) {
  Random random(seed);
  Problem problem = randomMerging(random, 9);
  problem.mergeClasses[0].options.resize(1);
  slow(random, problem);
  for (std::size_t k = 0; k + 1 < problem.layers.size(); ++k)
    problem.layers[k].endsModule = random.below(3) > 0;
  return problem;
}

double finishOf(const Problem &problem, const char *planner) {
  const Result<PlanResult> result = (*parsePlanner(planner))->plan(problem);
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return result->plan.finish;
}

/// The least finish of all groups of whole modules.
double leastFinish(const Problem &problem) {
  std::vector<std::size_t> ends;
  for (std::size_t k = 0; k < problem.layers.size(); ++k)
    if (problem.layers[k].endsModule)
      ends.push_back(k + 1);
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t cuts = 0; cuts < 1u << (ends.size() - 1); ++cuts) {
    std::vector<std::size_t> groups;
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (i + 1 == ends.size() || cuts >> i & 1)
        groups.push_back(ends[i]);
    least = std::min(least, replay(problem, choicesOfGroups(problem, 0, groups)).finish);
  }
  return least;
}

TEST(DdpGroups, ListsTheBestModulesWhereMessagesSlowComputation) {
  int slowed = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Problem problem = slowedMerging(seed, addLosses);
    const double least = leastFinish(problem);
    ASSERT_NEAR(finishOf(problem, "ddp-list"), least, 1e-11 * least) << "seed " << seed;
    slowed += slowsComputation(problem);
  }
  EXPECT_GT(slowed, 200);
}

/// The search is a heuristic there, which follows what each message takes from what runs beside it.
TEST(DdpGroups, ListsMostlyTheBestModulesWhereClassesLoseUnequally) {
  constexpr int problems = 400;
  int best = 0;
  double worst = 0; // how much later than the best a list ends, relative
  for (std::uint64_t seed = 1; seed <= problems; ++seed) {
    const Problem problem = slowedMerging(seed, addClasses);
    const double least = leastFinish(problem), found = finishOf(problem, "ddp-list");
    ASSERT_GE(found, least * (1 - 1e-11)) << "seed " << seed;
    best += found <= least * (1 + 1e-9);
    worst = std::max(worst, found / least - 1);
  }
  std::printf("%d of %d lists are best, the worst ends %.3g %% later\n", best, problems,
              worst * 100);
  EXPECT_GE(best, 0.99 * problems);
  EXPECT_LE(worst, 0.005);
}

/// A list could state the buckets of one size, where each layer is a module.
TEST(DdpGroups, ListsNothingWorseThanOneSize) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    Problem problem;
    double ready = 0;
    for (int k = 0; k < 40; ++k) {
      ready += 0.02 * random.unit();
      problem.layers.push_back({.bytes = 1 + static_cast<std::int64_t>(random.below(12 * mib)),
                                .ready = ready,
                                .mergeClasses = 1});
    }
    problem.computeFree = ready;
    problem.mergeClasses = {
        {.options = {{Scheme::ring, std::make_shared<AffineCost>(1e-3 * random.unit(), 4e-9)}}}};
    addLosses(random, problem);
    const double list = finishOf(problem, "ddp-list");
    for (const char *one : {"ddp:1MiB", "ddp:5MiB", "ddp:10MiB", "ddp:25MiB", "ddp:32MiB"})
      ASSERT_LE(list, finishOf(problem, one) * (1 + 1e-12)) << one << ", seed " << seed;
  }
}

} // namespace
} // namespace syncline::solver
