// The exact planner for merging alone against exhaustive search, the textbook recursion and every
// other planner.
#include "passes/solver/Planner.h"

#include "passes/proof/SolutionChecker.h"
#include "passes/solver/FinishTimes.h"
#include "tests/reference/solver/MergeReference.h"
#include "tests/support/ProblemBuilder.h"
#include "tests/unit/solver/RandomMergeProblem.h"

#include <gtest/gtest.h>

#include <limits>

namespace syncline::solver {

using namespace problem;
using namespace proof;
using namespace reference;
namespace {

/// Every kind of cost with every kind of layers, `rounds` times over.
template <typename Check>
void forRandomProblems(int rounds, std::size_t least, std::size_t most, Check check) {
  std::uint64_t seed = 0;
  for (int round = 0; round < rounds; ++round)
    for (CostKind cost : allCostKinds)
      for (LayerKind layers : allLayerKinds) {
        Random random(++seed);
        std::size_t span = most - least + 1;
        std::size_t count =
            least + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(span)));
        MergeProblem problem = randomProblem(random, cost, layers, count);
        Status valid = validate(problemOf(problem));
        ASSERT_TRUE(valid.isOk()) << valid.message();
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(count) + " layers");
        check(problem);
        if (testing::Test::HasFatalFailure())
          return;
      }
}

PlanResult solveMerge(const MergeProblem &problem) {
  return *(*parsePlanner("optimal"))->plan(problemOf(problem));
}

/// The bound and the proof, less what the backward pass demands.
const std::vector<double> &finishTimes(const PlanResult &result) {
  return std::get<MergeCertificate>(result.proof).earliestFinish;
}

std::vector<std::size_t> groupEnds(const PlanResult &result) {
  std::vector<std::size_t> ends;
  for (const Message &message : result.plan.messages)
    ends.push_back(message.layers.back() + 1);
  return ends;
}

void expectAccepted(const MergeProblem &merge, const PlanResult &result) {
  Problem problem = problemOf(merge);
  if (auto rejection = checkSolution(problem, result.plan))
    FAIL() << rejection->message;
  if (auto wrong = checkProof(problem, result.proof, result.plan.finish, true))
    FAIL() << *wrong;
}

/// 1,120 small instances: the plan ends when the best of all 2^(n-1) groupings does.
TEST(Merge, EqualsExhaustiveSearch) {
  forRandomProblems(20, 1, 12, [](const MergeProblem &problem) {
    PlanResult result = solveMerge(problem);
    double best = exhaustiveMerge(problem).finish;
    ASSERT_NEAR(result.plan.communicationEnd, best, 1e-12 * best);
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
  });
}

/// 560 instances of up to 300 layers: the pruned recursion gives the plain one's array.
TEST(Merge, EqualsPlainRecursion) {
  forRandomProblems(10, 1, 300, [](const MergeProblem &problem) {
    std::vector<double> fast = earliestFinishTimes(problem);
    std::vector<double> plain = plainFinishTimes(problem);
    ASSERT_EQ(fast.size(), plain.size());
    for (std::size_t j = 0; j < plain.size(); ++j)
      ASSERT_NEAR(fast[j], plain[j], 1e-13 * plain[j]) << "entry " << j;
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, solveMerge(problem)));
  });
}

/// 1,120 instances: no planner ends before the exact one, and every plan is a valid one.
TEST(Merge, NeverLosesToAnotherPlanner) {
  const char *names[] = {"wfbp",     "single",       "mg-wfbp",        "ddp:25MiB",
                         "ddp:1MiB", "horovod:2MiB", "horovod:128MiB", "ddp-list"};
  forRandomProblems(20, 13, 120, [&](const MergeProblem &problem) {
    Problem joint = problemOf(problem);
    double best = solveMerge(problem).plan.finish;
    for (const char *name : names) {
      PlanResult other = *(*parsePlanner(name))->plan(joint);
      if (auto rejection = checkSolution(joint, other.plan))
        FAIL() << name << ": " << rejection->message;
      ASSERT_GE(other.plan.finish, best * (1 - 1e-12)) << name;
      ASSERT_NEAR(other.bound, best, 1e-12 * best) << name;
      // These problems have no modules, and with one option it is DDP's, too.
      if (name == std::string("ddp-list") && problem.options.size() == 1) {
        ASSERT_NEAR(other.plan.finish, best, 1e-12 * best);
      }
    }
  });
}

/// Adding messages costs nothing in the objective, so the plan must show that it has none to spare:
/// with affine costs no optimal plan has fewer groups.
TEST(Merge, HasFewestGroupsWithAffineCosts) {
  std::uint64_t seed = 0;
  for (CostKind cost : {CostKind::affine, CostKind::noLatency, CostKind::hugeLatency})
    for (LayerKind layers : allLayerKinds)
      for (int round = 0; round < 20; ++round) {
        Random random(++seed);
        MergeProblem problem = randomProblem(random, cost, layers, 11);
        EXPECT_EQ(solveMerge(problem).plan.messages.size(), exhaustiveMerge(problem).groups)
            << "seed " << seed;
      }
}

/// Where the channel waits for the backward pass anyway, early layers share a message for free.
TEST(Merge, MergesWhereItCostsNothing) {
  MergeProblem problem{{{100, 0.0}, {100, 0.1}, {100, 10.0}},
                       {{Scheme::ring, std::make_shared<AffineCost>(1, 0.01)}}};
  PlanResult result = solveMerge(problem);
  EXPECT_EQ(groupEnds(result), (std::vector<std::size_t>{2, 3}));
  EXPECT_DOUBLE_EQ(result.plan.finish, 12);
  EXPECT_EQ(result.gap(), 0);
}

TEST(Merge, PlansNothingForNoLayers) {
  MergeProblem problem{{}, {{Scheme::ring, std::make_shared<AffineCost>(1, 1)}}};
  PlanResult result = solveMerge(problem);
  EXPECT_TRUE(result.plan.messages.empty());
  EXPECT_EQ(result.plan.finish, 0);
  EXPECT_EQ(finishTimes(result), std::vector<double>{0});
  expectAccepted(problem, result);
}

/// With two schemes, each message goes by the one that is faster for its size.
TEST(Merge, ChoosesTheSchemePerGroup) {
  MergeProblem problem{{{10, 0.0}, {100000, 100.0}},
                       {{Scheme::ring, std::make_shared<AffineCost>(5, 1e-5)},
                        {Scheme::tree, std::make_shared<AffineCost>(1, 1e-3)}}};
  PlanResult result = solveMerge(problem);
  ASSERT_EQ(result.plan.messages.size(), 2u);
  EXPECT_EQ(result.plan.messages[0].option, 1u);
  EXPECT_EQ(result.plan.messages[1].option, 0u);
}

/// f is not monotone when the cost falls: more bytes may arrive sooner.
TEST(Merge, FollowsACostThatFalls) {
  std::vector<CostPoint> points{{10, 5}, {11, 1}};
  MergeProblem problem{{{10, 0.0}, {1, 0.0}, {10, 0.0}},
                       {{Scheme::ring, std::make_shared<TableCost>(*TableCost::create(points))}}};
  std::vector<double> finish = earliestFinishTimes(problem);
  EXPECT_EQ(finish, (std::vector<double>{0, 5, 1, 1}));
  EXPECT_EQ(solveMerge(problem).plan.messages.size(), 1u);
}

TEST(Merge, GivesTheSameBitsTwice) {
  Random random(7);
  MergeProblem problem = randomProblem(random, CostKind::falling, LayerKind::spread, 300);
  PlanResult first = solveMerge(problem), second = solveMerge(problem);
  EXPECT_EQ(finishTimes(first), finishTimes(second));
  EXPECT_EQ(groupEnds(first), groupEnds(second));
}

/// Zero ready times and zero latency: any cut is as good, so there is one message.
TEST(Merge, SendsOneMessageWhenCutsGainNothing) {
  MergeProblem problem{std::vector<MergeLayer>(50, {4096, 0.0}),
                       {{Scheme::ring, std::make_shared<AffineCost>(0, 1e-9)}}};
  EXPECT_EQ(solveMerge(problem).plan.messages.size(), 1u);
}

} // namespace
} // namespace syncline::solver
