// The registry's answers to good and bad names, and each comparison rule on a case done by hand.
#include "passes/solver/Planner.h"

#include "passes/proof/SolutionChecker.h"
#include "tests/support/ProblemBuilder.h"
#include "tests/unit/solver/RandomMergeProblem.h"

#include <gtest/gtest.h>

#include <string>

namespace syncline::solver {

using namespace problem;
using namespace proof;
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;
using Ends = std::vector<std::size_t>;

MergeProblem affineProblem(std::vector<MergeLayer> layers, double latency, double slope) {
  return {std::move(layers), {{Scheme::ring, std::make_shared<AffineCost>(latency, slope)}}};
}

std::string errorOf(std::string_view text) {
  auto planner = parsePlanner(text);
  if (planner.isOk())
    return "accepted";
  EXPECT_EQ(planner.status().kind(), ErrorKind::badUsage);
  return planner.status().message();
}

/// The ends of the groups that a planner makes of merging alone.
Ends endsBy(std::string_view planner, const MergeProblem &problem) {
  const Result<PlanResult> result = (*parsePlanner(planner))->plan(problemOf(problem));
  Ends ends;
  for (const Message &message : result->plan.messages)
    ends.push_back(message.layers.back() + 1);
  return ends;
}

TEST(ParsePlanner, KnowsEveryFormItLists) {
  for (const PlannerUsage &usage : plannerUsages()) {
    std::string text(usage.form);
    if (std::size_t size = text.find("SIZE"); size != std::string::npos)
      text.replace(size, 4, "1.5 MiB");
    if (text.ends_with("=N"))
      text.replace(text.size() - 1, 1, "4");
    auto planner = parsePlanner(text);
    ASSERT_TRUE(planner.isOk()) << planner.status().message();
    EXPECT_EQ((*planner)->name(), text);
  }
}

TEST(ParsePlanner, SaysWhatExists) {
  EXPECT_EQ(errorOf("best"),
            "unknown planner 'best', expected one of optimal, wfbp, "
            "single, mg-wfbp, ddp:SIZE, ddp-list, horovod:SIZE, poseidon, ps, sfb, p3:SIZE, "
            "bytescheduler:SIZE, dear:SIZE, tictac, z3:messages=N");
  EXPECT_EQ(errorOf(""),
            "unknown planner '', expected one of optimal, wfbp, "
            "single, mg-wfbp, ddp:SIZE, ddp-list, horovod:SIZE, poseidon, ps, sfb, p3:SIZE, "
            "bytescheduler:SIZE, dear:SIZE, tictac, z3:messages=N");
  EXPECT_EQ(errorOf("optmal"), "unknown planner 'optmal', did you mean 'optimal'?");
  EXPECT_EQ(errorOf("dpd:25MiB"), "unknown planner 'dpd:25MiB', did you mean 'ddp:SIZE'?");
  EXPECT_EQ(errorOf("wfbp:1MiB"), "planner 'wfbp' takes no size, got 'wfbp:1MiB'");
  EXPECT_EQ(errorOf("ddp"), "planner 'ddp' needs a size, as in 'ddp:25MiB'");
}

TEST(ParsePlanner, WantsAPositiveSizeWithAUnit) {
  for (const char *size : {"", "25", "MiB", "-1MiB", "0B", "25mib", "1e300GB", "nanB", "5MiBs"})
    EXPECT_EQ(errorOf(std::string("ddp:") + size),
              std::string("planner 'ddp:") + size +
                  "': expected a positive size with a unit (B, kB, KiB, MB, MiB, GB, GiB, TB, "
                  "TiB), got '" +
                  size + "'");
}

TEST(ParsePlanner, WantsALimitOfMessages) {
  for (const char *text : {"z3", "z3:", "z3:4", "z3:messages=", "z3:messages=0", "z3:messages=-1",
                           "z3:messages=4x", "z3:messages= 4", "z3:messages=99999999999999999999"})
    EXPECT_EQ(errorOf(text), "planner '" + std::string(text) +
                                 "': expected 'z3:messages=N' with N of at least 1, as in "
                                 "'z3:messages=4'");
  EXPECT_EQ((*parsePlanner("z3:messages=4"))->maxMessages(), 4u);
  EXPECT_EQ((*parsePlanner("z3:messages=4"))->search(), nullptr);
  EXPECT_EQ((*parsePlanner("ddp:1MiB"))->maxMessages(), std::nullopt);
}

/// `compile --accumulate` compares two more planners; users cannot name them, but plans do.
TEST(PlannerOfPlan, KnowsThePlannersOfSeveralMicroBatches) {
  for (const char *text : {"sums", "micro-batches:4", "micro-batches:1000000"}) {
    EXPECT_EQ(errorOf(text).substr(0, 16), "unknown planner ") << text;
    EXPECT_EQ((*plannerOfPlan(text))->name(), text);
    EXPECT_FALSE((*plannerOfPlan(text))->isOptimal()) << text;
  }
  EXPECT_EQ((*plannerOfPlan("micro-batches:4"))->search()->gatherPrice, 4);
  EXPECT_EQ(microBatchesPlanner(4)->name(), "micro-batches:4");
  EXPECT_TRUE((*plannerOfPlan("sums"))->search()->sumsOnly());
  EXPECT_FALSE(microBatchesPlanner(4)->search()->sumsOnly());
  EXPECT_TRUE((*parsePlanner("optimal"))->isOptimal());
  EXPECT_EQ((*plannerOfPlan("ddp:1MiB"))->name(), "ddp:1MiB");
  for (const char *text :
       {"micro-batches", "micro-batches:", "micro-batches:0", "micro-batches:-1",
        "micro-batches:4x", "micro-batches: 4", "micro-batches:1000001", "micro-batches:1.5"})
    EXPECT_FALSE(plannerOfPlan(text)) << text;
}

/// A bucket closes with the layer that fills it; by default the first is full at 1 MiB.
TEST(Ddp, ClosesABucketWithTheLayerThatReachesTheCap) {
  auto problem = affineProblem(
      {{600 * kib, 0.0}, {600 * kib, 0.0}, {mib, 0.0}, {mib, 0.0}, {5 * mib, 0.0}, {1, 0.0}}, 0,
      1e-9);
  EXPECT_EQ(endsBy("ddp:2MiB", problem), (Ends{3, 5, 6}));
  EXPECT_EQ(endsBy("ddp:100MiB", problem), (Ends{6}));
  EXPECT_EQ(endsBy("ddp:25MiB", problem), (Ends{2, 6}));
}

/// The list closes buckets where they end first, and nowhere within a module.
TEST(Ddp, ListsTheBestBucketsOfWholeModules) {
  Problem problem = problemOf(affineProblem({{10, 1}, {10, 2}, {10, 8}, {10, 9}}, 0.5, 0.1));
  const auto ends = [&] {
    const Result<PlanResult> result = (*parsePlanner("ddp-list"))->plan(problem);
    Ends found;
    for (const Message &message : result->plan.messages)
      found.push_back(message.layers.back() + 1);
    return found;
  };
  EXPECT_EQ(ends(), (Ends{2, 3, 4})); // {3} is on its way when 4 is ready
  problem.layers[2].endsModule = false;
  EXPECT_EQ(ends(), (Ends{2, 4}));
  problem.layers[1].endsModule = false;
  EXPECT_EQ(ends(), (Ends{1, 4}));
}

/// Cycle 1 ms: layers ready by a wake-up are packed; the loop sleeps while it sends.
TEST(Horovod, PacksWhatIsReadyWhenItWakes) {
  auto problem = affineProblem(
      {{10, 0.2e-3}, {10, 0.9e-3}, {10, 1e-3}, {10, 1.1e-3}, {10, 2.5e-3}, {10, 9.3e-3}}, 0.25e-3,
      0.05e-3);
  // Wakes at 1 ms: {1, 2} and {3} by capacity, busy until 3 ms: {4, 5}; wakes at 10 ms.
  EXPECT_EQ(endsBy("horovod:20B", problem), (Ends{2, 3, 5, 6}));
  // A layer that is larger than the buffer travels alone.
  EXPECT_EQ(endsBy("horovod:5B", problem), (Ends{1, 2, 3, 4, 5, 6}));
}

/// Merges the next layer when it is ready less than a = 1 after the group would start.
TEST(MgWfbp, MergesWhileWaitingIsShorterThanTheLatency) {
  auto problem = affineProblem({{10, 0.0}, {10, 0.9}, {10, 2.0}, {10, 2.1}, {10, 20.0}}, 1, 0.1);
  // 0.9 < 0 + 1 merges; 2.0 < 0.9 + 1 does not: busy until 3.9; 2.1 < 3.9 + 1 merges.
  EXPECT_EQ(endsBy("mg-wfbp", problem), (Ends{2, 4, 5}));
}

TEST(MgWfbp, DoesNotWaitForEqualTimesWithoutLatency) {
  auto problem = affineProblem({{10, 0.0}, {10, 0.0}}, 0, 0.1);
  EXPECT_EQ(endsBy("mg-wfbp", problem), (Ends{1, 2}));
}

TEST(MgWfbp, FitsALineToATable) {
  std::vector<CostPoint> points{{10, 2.0}, {20, 3.0}, {30, 4.0}}; // a = 1, b = 0.1
  MergeProblem problem{{{10, 0.0}, {10, 0.9}, {10, 2.0}},
                       {{Scheme::ring, std::make_shared<TableCost>(*TableCost::create(points))}}};
  EXPECT_EQ(endsBy("mg-wfbp", problem), (Ends{2, 3}));
}

/// The rule looks one layer ahead: with layers always just within one latency, it merges them all
/// and starts only when the backward pass is over.
TEST(MgWfbp, CanBeMoreThanAFifthSlowerThanOptimal) {
  std::vector<MergeLayer> layers;
  for (int k = 0; k < 40; ++k)
    layers.push_back({1000, 0.9 * k});
  auto problem = affineProblem(layers, 1, 1e-3);
  Problem joint = problemOf(problem);
  PlanResult rule = *(*parsePlanner("mg-wfbp"))->plan(joint);
  EXPECT_GT(rule.gap(), 0.2);
  EXPECT_DOUBLE_EQ(rule.bound, (*parsePlanner("optimal"))->plan(joint)->plan.finish);
}

TEST(Planner, PlansNothingForNoLayers) {
  Problem problem = problemOf(affineProblem({}, 1, 1));
  for (const char *name : {"optimal", "wfbp", "single", "mg-wfbp", "ddp:1MiB", "horovod:1MiB"})
    EXPECT_TRUE((*parsePlanner(name))->plan(problem)->plan.messages.empty()) << name;
}

/// Two merge classes; layer 2 may go by factors.
Problem mixedProblem() {
  Problem problem = problemOf(affineProblem({{10, 1}, {40, 2}, {20, 4}}, 1, 0.1));
  problem.mergeClasses.push_back({.options = {{.scheme = Scheme::parameterServer,
                                               .cost = std::make_shared<AffineCost>(2, 0.1),
                                               .traffic = 4}}});
  for (Layer &layer : problem.layers)
    layer.mergeClasses = 3;
  problem.layers[1].factorOptions = {{.seconds = 2, .reconstruct = 3, .traffic = 5}};
  return problem;
}

/// Merging alone is proved by the array f, any more choice by relaxations.
TEST(Planner, ProvesPlainProblemsByAnArray) {
  Problem plain = problemOf(affineProblem({{10, 1}, {40, 2}, {20, 4}}, 1, 0.1));
  Problem limited = plain;
  limited.mergeClasses[0].largestMessage = 50;
  for (const PlannerUsage &usage : plannerUsages()) {
    std::string name(usage.form);
    if (std::size_t size = name.find("SIZE"); size != std::string::npos)
      name.replace(size, 4, "25MiB");
    if (name.ends_with("=N"))
      continue; // asks Z3
    auto planner = *parsePlanner(name);
    for (const Problem &problem : {plain, limited, mixedProblem()}) {
      Result<PlanResult> result = planner->plan(problem);
      if (!result)
        continue; // no servers, no factors
      bool isArray = std::holds_alternative<MergeCertificate>(result->proof);
      EXPECT_EQ(isArray, plainProblem(problem).has_value()) << name;
      EXPECT_FALSE(checkSolution(problem, result->plan)) << name;
      EXPECT_EQ(checkProof(problem, result->proof, result->plan.finish, name == "optimal"),
                std::nullopt)
          << name;
    }
  }
}

/// Only the driver has Z3.
TEST(Planner, DoesNotPlanByZ3) {
  Result<PlanResult> result = (*parsePlanner("z3:messages=1"))->plan(mixedProblem());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().kind(), ErrorKind::badInput);
  EXPECT_EQ(result.status().message(), "planner 'z3:messages=1': plans only in 'syncline compile'");
}

/// A limit of messages leaves out the rules that send more.
TEST(BestRuledSolution, KeepsTheLimit) {
  const Problem problem = problemOf(affineProblem({{10, 1}, {40, 2}, {20, 4}}, 0.1, 0.01));
  EXPECT_EQ(bestRuledSolution(problem)->messages.size(), 3u);
  EXPECT_EQ(bestRuledSolution(problem, 2)->messages.size(), 2u);
  EXPECT_EQ(bestRuledSolution(problem, 1)->messages.size(), 1u);
  EXPECT_FALSE(bestRuledSolution(problem, 0));
}

/// The backward pass may end later than the last message.
TEST(Planner, CountsTheBackwardPass) {
  Problem problem = problemOf(affineProblem({{10, 1}}, 1, 0.1));
  problem.computeFree = 5;
  PlanResult result = *(*parsePlanner("optimal"))->plan(problem);
  EXPECT_DOUBLE_EQ(result.plan.communicationEnd, 3);
  EXPECT_DOUBLE_EQ(result.plan.finish, 5);
  EXPECT_DOUBLE_EQ(result.bound, 5);
  EXPECT_TRUE(result.optimal());
}

TEST(Planner, MergesInTheFirstMergeClassWhereThereAreMore) {
  PlanResult result = *(*parsePlanner("single"))->plan(mixedProblem());
  ASSERT_EQ(result.plan.messages.size(), 1u);
  EXPECT_EQ(result.plan.messages[0].mergeClass, 0u);
  EXPECT_EQ(result.plan.messages[0].bytes, 70);
  EXPECT_GT(result.gap(), 0);
}

TEST(Planner, CutsGroupsToTheLargestMessage) {
  Problem problem = mixedProblem();
  problem.mergeClasses[0].largestMessage = 50;
  PlanResult result = *(*parsePlanner("single"))->plan(problem);
  ASSERT_EQ(result.plan.messages.size(), 2u);
  EXPECT_EQ(result.plan.messages[0].bytes, 50);
  EXPECT_EQ(result.plan.messages[1].bytes, 20);
}

void expectBadInput(const Problem &problem, const char *planner, const std::string &message) {
  Result<PlanResult> result = (*parsePlanner(planner))->plan(problem);
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().kind(), ErrorKind::badInput);
  EXPECT_EQ(result.status().message(), message);
}

TEST(Planner, NamesTheLayerThatCannotTravelInTheFirstMergeClass) {
  Problem problem = mixedProblem();
  problem.layers[2].mergeClasses = 2;
  expectBadInput(problem, "ddp:25MiB",
                 "planner 'ddp:25MiB': layer 3 in backward order must travel otherwise than the "
                 "first, and this planner sends all the same way; planner 'optimal' does not");
  problem.layers[2].mergeClasses = 3;
  problem.mergeClasses[0].largestMessage = 30;
  expectBadInput(problem, "wfbp",
                 "planner 'wfbp': layer 2 in backward order cannot travel by 'ring'");
  problem.mergeClasses[0].largestMessage = unlimited;
  problem.mergeClasses[0].capacity = 69;
  expectBadInput(problem, "single",
                 "planner 'single': expected 'ring' to hold 70 B, got room for 69 B");
}

/// A merge class of all-reduces as fast as their numbers, and servers.
Problem manySchemes(std::initializer_list<std::pair<Scheme, double>> schemes) {
  Problem problem = mixedProblem();
  problem.mergeClasses.resize(1);
  problem.mergeClasses[0].options.clear();
  for (auto [scheme, seconds] : schemes)
    problem.mergeClasses[0].options.push_back(
        {scheme, std::make_shared<AffineCost>(seconds, 0), 4});
  for (Layer &layer : problem.layers) {
    layer.mergeClasses = 1;
    layer.factorOptions.clear();
    layer.carrier.reset();
  }
  return problem;
}

std::vector<Scheme> schemesOf(const Problem &problem, const char *planner) {
  PlanResult result = *(*parsePlanner(planner))->plan(problem);
  std::vector<Scheme> schemes;
  for (const Message &message : result.plan.messages)
    schemes.push_back(result.plan.scheme(problem, message));
  return schemes;
}

// The fastest is none of theirs: Gloo's all-reduce is a ring, NCCL's a ring, a tree, or what NCCL
// chooses where that was measured.
TEST(Planner, SystemsSendByWhatTheyHave) {
  Problem problem = manySchemes({{Scheme::ring, 4},
                                 {Scheme::tree, 3},
                                 {Scheme::hierarchical, 2},
                                 {Scheme::parameterServer, 1}});
  Problem measured = manySchemes({{Scheme::ring, 4}, {Scheme::library, 2}, {Scheme::tree, 3}});
  measured.onGpus = true;
  for (const char *planner : {"ddp:1GB", "ddp-list", "horovod:1GB"}) {
    problem.onGpus = false;
    for (Scheme scheme : schemesOf(problem, planner))
      EXPECT_EQ(scheme, Scheme::ring) << planner;
    problem.onGpus = true;
    for (Scheme scheme : schemesOf(problem, planner))
      EXPECT_EQ(scheme, Scheme::tree) << planner;
    for (Scheme scheme : schemesOf(measured, planner))
      EXPECT_EQ(scheme, Scheme::library) << planner;
  }
  for (Scheme scheme : schemesOf(problem, "wfbp")) // a rule, no system
    EXPECT_EQ(scheme, Scheme::parameterServer);
}

// One all-reduce was requested by name, or is all that was measured.
TEST(Planner, SystemsTakeTheOnlyAllReduceThereIs) {
  Problem problem = manySchemes({{Scheme::halvingDoubling, 1}});
  for (Scheme scheme : schemesOf(problem, "ddp:1GB"))
    EXPECT_EQ(scheme, Scheme::halvingDoubling);
}

TEST(Planner, SystemsHaveNoServers) {
  const std::string lacks = ", which is what it has, got a cluster that does not offer it";
  Problem problem = manySchemes({{Scheme::parameterServer, 1}});
  expectBadInput(problem, "ddp:1GB", "planner 'ddp:1GB': expected ring" + lacks);
  problem.onGpus = true;
  expectBadInput(problem, "horovod:1GB",
                 "planner 'horovod:1GB': expected ring, tree or library" + lacks);
}

TEST(PlainProblem, IsOneMergeClassWithoutLimitsOrFactors) {
  Problem problem = problemOf(affineProblem({{10, 1}, {40, 2}}, 1, 0.1));
  ASSERT_TRUE(plainProblem(problem));
  EXPECT_EQ(plainProblem(problem)->layers[1].bytes, 40);
  EXPECT_EQ(plainProblem(problem)->options.size(), 1u);
  for (auto spoil : {+[](Problem &p) { p.mergeClasses.push_back(p.mergeClasses[0]); },
                     +[](Problem &p) { p.mergeClasses[0].largestMessage = 100; },
                     +[](Problem &p) { p.mergeClasses[0].capacity = 100; },
                     +[](Problem &p) {
                       p.layers[0].factorOptions = {{.seconds = 1, .reconstruct = 1, .traffic = 1}};
                     }}) {
    Problem other = problem;
    spoil(other);
    EXPECT_FALSE(plainProblem(other));
  }
}

/// An array proves nothing about a problem with more choice.
TEST(CheckProof, RefusesAnArrayWhereThereIsMoreChoice) {
  Problem problem = mixedProblem();
  EXPECT_EQ(checkProof(problem, MergeCertificate{{0, 0, 0, 0}}, 3, false),
            "J39: expected relaxations, since the problem is more than merging, got finish times");
  problem = problemOf(affineProblem({{10, 1}}, 1, 0.1));
  EXPECT_EQ(checkProof(problem, MergeCertificate{{0, 3}}, 3, true), std::nullopt);
  EXPECT_EQ(checkProof(problem, MergeCertificate{{0, 2.5}}, 3, false), std::nullopt);
  EXPECT_EQ(checkProof(problem, MergeCertificate{{0, 2.5}}, 3, true),
            "J36: expected the plan to finish at 2.5 s, got 3 s");
  EXPECT_EQ(checkProof(problem, MergeCertificate{{0, 2.5}}, 2, false),
            "J37: expected the plan to finish at 2.5 s or later, got 2 s");
}

} // namespace
} // namespace syncline::solver
