// The registry's answers to good and bad names, and each comparison rule on a case done by hand.
#include "passes/solver/Planner.h"

#include "passes/solver/ComparisonPlanners.h"
#include "passes/solver/Replay.h"

#include <gtest/gtest.h>

#include <string>

namespace syncline::solver {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;
using Ends = std::vector<std::size_t>;

MergeProblem affineProblem(std::vector<Layer> layers, double latency, double slope) {
  return {std::move(layers), {{Scheme::ring, std::make_shared<AffineCost>(latency, slope)}}};
}

std::string errorOf(std::string_view text) {
  auto planner = parsePlanner(text);
  if (planner.isOk())
    return "accepted";
  EXPECT_EQ(planner.status().kind(), ErrorKind::badUsage);
  return planner.status().message();
}

TEST(ParsePlanner, KnowsEveryFormItLists) {
  for (const PlannerUsage &usage : plannerUsages()) {
    std::string text(usage.form);
    if (std::size_t size = text.find("SIZE"); size != std::string::npos)
      text.replace(size, 4, "1.5 MiB");
    auto planner = parsePlanner(text);
    ASSERT_TRUE(planner.isOk()) << planner.status().message();
    EXPECT_EQ((*planner)->name(), text);
  }
}

TEST(ParsePlanner, SaysWhatExists) {
  EXPECT_EQ(errorOf("best"), "unknown planner 'best', expected one of optimal, wfbp, single, "
                             "mg-wfbp, ddp:SIZE, horovod:SIZE");
  EXPECT_EQ(errorOf(""), "unknown planner '', expected one of optimal, wfbp, single, "
                         "mg-wfbp, ddp:SIZE, horovod:SIZE");
  EXPECT_EQ(errorOf("wfbp:1MiB"), "planner 'wfbp' takes no size, got 'wfbp:1MiB'");
  EXPECT_EQ(errorOf("ddp"), "planner 'ddp' needs a size, as in 'ddp:25MiB'");
}

TEST(ParsePlanner, WantsAPositiveSizeWithAUnit) {
  for (const char *size : {"", "25", "MiB", "-1MiB", "0B", "25mib", "1e300GB", "nanB", "5MiBs"})
    EXPECT_EQ(errorOf(std::string("ddp:") + size),
              std::string("planner 'ddp:") + size +
                  "': expected a positive size with a unit (B, KB, MB, GB, KiB, MiB, GiB), got '" +
                  size + "'");
}

/// A bucket closes with the layer that fills it; the first is full at 1 MiB.
TEST(Ddp, ClosesABucketWithTheLayerThatReachesTheCap) {
  auto problem = affineProblem(
      {{600 * kib, 0.0}, {600 * kib, 0.0}, {mib, 0.0}, {mib, 0.0}, {5 * mib, 0.0}, {1, 0.0}}, 0,
      1e-9);
  EXPECT_EQ(ddpGroups(problem, 2 * mib), (Ends{2, 4, 5, 6}));
  EXPECT_EQ(ddpGroups(problem, 100 * mib), (Ends{2, 6}));
}

/// Cycle 1 s: layers ready by a wake-up are packed; the loop sleeps while it sends.
TEST(Horovod, PacksWhatIsReadyWhenItWakes) {
  auto problem =
      affineProblem({{10, 0.2}, {10, 0.9}, {10, 1.0}, {10, 1.1}, {10, 2.5}, {10, 9.3}}, 0.25, 0.05);
  // Wakes at 1: {1, 2} and {3} by capacity, busy until 3: {4, 5}; wakes at 10.
  EXPECT_EQ(horovodGroups(problem, 20, 1.0), (Ends{2, 3, 5, 6}));
  // A layer that is larger than the buffer travels alone.
  EXPECT_EQ(horovodGroups(problem, 5, 1.0), (Ends{1, 2, 3, 4, 5, 6}));
}

/// Merges the next layer when it is ready less than a = 1 after the group would start.
TEST(MgWfbp, MergesWhileWaitingIsShorterThanTheLatency) {
  auto problem = affineProblem({{10, 0.0}, {10, 0.9}, {10, 2.0}, {10, 2.1}, {10, 20.0}}, 1, 0.1);
  // 0.9 < 0 + 1 merges; 2.0 < 0.9 + 1 does not: busy until 3.9; 2.1 < 3.9 + 1 merges.
  EXPECT_EQ(mgWfbpGroups(problem), (Ends{2, 4, 5}));
}

TEST(MgWfbp, DoesNotWaitForEqualTimesWithoutLatency) {
  auto problem = affineProblem({{10, 0.0}, {10, 0.0}}, 0, 0.1);
  EXPECT_EQ(mgWfbpGroups(problem), (Ends{1, 2}));
}

TEST(MgWfbp, FitsALineToATable) {
  std::vector<CostPoint> points{{10, 2.0}, {20, 3.0}, {30, 4.0}}; // a = 1, b = 0.1
  MergeProblem problem{{{10, 0.0}, {10, 0.9}, {10, 2.0}},
                       {{Scheme::ring, std::make_shared<TableCost>(*TableCost::create(points))}}};
  EXPECT_EQ(mgWfbpGroups(problem), (Ends{2, 3}));
}

/// The rule looks one layer ahead: with layers always just within one latency, it merges them all
/// and starts only when the backward pass is over.
TEST(MgWfbp, CanBeMoreThanAFifthSlowerThanOptimal) {
  std::vector<Layer> layers;
  for (int k = 0; k < 40; ++k)
    layers.push_back({1000, 0.9 * k});
  auto problem = affineProblem(layers, 1, 1e-3);
  MergeResult rule = (*parsePlanner("mg-wfbp"))->plan(problem);
  EXPECT_GT(rule.gap(), 0.2);
  EXPECT_DOUBLE_EQ(rule.bound(), (*parsePlanner("optimal"))->plan(problem).solution.finish);
}

TEST(Planner, PlansNothingForNoLayers) {
  auto problem = affineProblem({}, 1, 1);
  for (const char *name : {"optimal", "wfbp", "single", "mg-wfbp", "ddp:1MiB", "horovod:1MiB"})
    EXPECT_TRUE((*parsePlanner(name))->plan(problem).solution.groups.empty()) << name;
}

} // namespace
} // namespace syncline::solver
