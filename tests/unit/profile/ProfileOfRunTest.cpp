// Measured operations as a profile: sums by node, medians, and whether they add up.
#include "frontend/profile/ProfileOfRun.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace syncline;
using namespace syncline::profile;
using nlohmann::json;

namespace {

json operation(const std::string &layer, const std::string &phase, std::vector<double> seconds,
               const std::string &kind = "compute", int bytes = 0) {
  return {{"name", "op"}, {"layer", layer}, {"phase", phase},
          {"kind", kind}, {"bytes", bytes}, {"seconds", std::move(seconds)}};
}

/// Steps whose length is the operations' sum.
json document(std::vector<json> operations, int ranks = 1) {
  std::vector<double> steps(operations.front()["seconds"].size());
  for (const json &operation : operations)
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i] += operation["seconds"][i].get<double>();
  return {{"schema", 1},    {"name", "net"},  {"ranks", ranks}, {"batch", 8},
          {"steady", true}, {"steps", steps}, {"whole", steps}, {"operations", operations}};
}

MeasuredProfile measure(const json &times) {
  auto measured = profileOfTimes(times);
  EXPECT_TRUE(measured) << measured.status().message();
  return measured ? *measured : MeasuredProfile();
}

} // namespace

// A node's operations of a phase count together; the loss has no backward.
TEST(OperationTimes, SumsByNodeAndPhase) {
  const MeasuredProfile m = measure(document(
      {operation("conv", "forward", {1, 1, 1}), operation("loss", "forward", {0.5, 0.5, 0.5}),
       operation("conv", "backward", {2, 2, 2}), operation("conv", "backward", {3, 3, 3}),
       operation("", "update", {4, 4, 4}, "update", 8)}));
  EXPECT_EQ(m.profile.operations.at("conv").forward, 1);
  EXPECT_EQ(m.profile.operations.at("conv").backward, 5);
  EXPECT_FALSE(m.profile.operations.at("loss").backward);
  EXPECT_EQ(m.profile.update, 0.5);
  EXPECT_EQ(m.profile.batch, 8);
  EXPECT_EQ(m.operations, 10.5);
  EXPECT_TRUE(m.addsUp());
  EXPECT_EQ(m.kind, MeasuredProfile::Kind::medians);
}

// One slow step moves neither medians nor, much, the spread.
TEST(OperationTimes, TakesMedians) {
  const MeasuredProfile m = measure(document({operation("a", "forward", {1, 1, 1, 1, 9})}));
  EXPECT_EQ(m.profile.operations.at("a").forward, 1);
  EXPECT_EQ(m.profile.operations.at("a").spread, 0);
  EXPECT_EQ(m.step, 1);
}

// Where every step is interrupted in another operation, medians miss what means find.
TEST(OperationTimes, AveragesInterruptedSteps) {
  const MeasuredProfile m =
      measure(document({operation("a", "forward", {2, 1, 1}), operation("b", "forward", {1, 2, 1}),
                        operation("c", "forward", {1, 1, 2})}));
  EXPECT_EQ(m.kind, MeasuredProfile::Kind::middle);
  EXPECT_TRUE(m.addsUp());
  EXPECT_NEAR(m.profile.operations.at("a").forward, 4.0 / 3, 1e-12);
  EXPECT_NE(profileSummary(m).find("100.00 % of the step, by means"), std::string::npos)
      << profileSummary(m);
}

// Ranks that share a processor: the one step in four that waits counts.
TEST(OperationTimes, AveragesRanksThatShareProcessors) {
  auto measured = profileOfTimes(document({operation("a", "forward", {1, 1, 1, 5})}),
                                 {.others = std::vector<RankSteps>(3), .sharesProcessors = true});
  ASSERT_TRUE(measured);
  EXPECT_TRUE(measured->profile.scatter.empty());
  EXPECT_EQ(measured->profile.overhead, 0);
  EXPECT_EQ(measured->profile.operations.at("a").forward, 2);
  EXPECT_EQ(measured->step, 2);
  EXPECT_TRUE(measured->addsUp());
}

// What a step takes beside its operations, in the median.
TEST(OperationTimes, OverheadIsWhatAStepTakesBeside) {
  json times = document({operation("a", "forward", {1, 1, 1, 1, 1})});
  times["whole"] = {1.5, 1.25, 1.75, 2.25, 2};
  EXPECT_EQ(measure(times).profile.overhead, 0.75);
}

// Steps relative to operations and overhead, with those of the rank beside: its first step was
// under way in the middle of the first two, its second one in the middle of the third.
TEST(OperationTimes, ScatterIsOfRanksSideBySide) {
  json times = document({operation("a", "forward", {1, 1, 1, 1, 1})});
  times["whole"] = {2.0, 2.0, 2.5, 2.0, 4.0};
  EXPECT_EQ(measure(times).profile.scatter, (std::vector<std::vector<double>>{{1, 1, 1.25, 1, 2}}));
  SideBySide beside{.others = {{.seconds = {4, 3, 2.5, 3}, .end = 12.5}}, .end = 12.5};
  const auto measured = profileOfTimes(times, beside);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->profile.overhead, 1);
  EXPECT_EQ(measured->profile.scatter,
            (std::vector<std::vector<double>>{{1, 1, 1.25, 1, 2}, {2, 2, 1.5, 1.25, 1.5}}));
  EXPECT_NE(profileSummary(*measured).find(
                "steps of one rank take 1.25 times as long in the mean, the slowest of 2 "
                "ranks' 1.75 times"),
            std::string::npos)
      << profileSummary(*measured);
}

// 64 of many steps are kept, from the first half as from the second one. A pause of any length
// counts as three more steps.
TEST(OperationTimes, ScatterIsShort) {
  std::vector<double> seconds(500, 1);
  seconds.resize(1000, 1.5);
  const MeasuredProfile m = measure(document({operation("a", "forward", seconds)}));
  ASSERT_EQ(m.profile.scatter.size(), 1u);
  EXPECT_EQ(m.profile.scatter[0].size(), 64u);
  EXPECT_EQ(std::ranges::count(m.profile.scatter[0], m.profile.scatter[0].front()), 32);
  const MeasuredProfile paused = measure(document({operation("a", "forward", {1, 1, 900})}));
  EXPECT_EQ(paused.profile.scatter, (std::vector<std::vector<double>>{{1, 1, 4}}));
}

// What is reconstructed from the factors of four ranks costs one rank a quarter.
TEST(OperationTimes, SharesReconstruction) {
  const MeasuredProfile m =
      measure(document({operation("fc", "forward", {1, 1}), operation("fc", "backward", {1, 1}),
                        operation("fc", "update", {8, 8})},
                       4));
  EXPECT_EQ(m.profile.operations.at("fc").backward, 3);
  EXPECT_EQ(m.operations, 10);
}

// Times that do not add up are told.
TEST(OperationTimes, SaysWhatDoesNotAddUp) {
  json times = document({operation("a", "forward", {1, 1})});
  times["steps"] = {1.1, 1.1};
  const MeasuredProfile m = measure(times);
  EXPECT_FALSE(m.addsUp());
  EXPECT_NE(profileSummary(m).find("90.91 % of the step"), std::string::npos) << profileSummary(m);
  EXPECT_NE(profileSummary(m).find("not to be trusted"), std::string::npos);
}

// Another document is refused.
TEST(OperationTimes, Refuses) {
  EXPECT_FALSE(profileOfTimes(json::object()));
  EXPECT_FALSE(profileOfTimes(json()));
  json times = document({operation("a", "forward", {1, 1})});
  times["steps"] = json::array();
  EXPECT_FALSE(profileOfTimes(times));
  times["steps"] = {1, 1, 1};
  EXPECT_FALSE(profileOfTimes(times));
  times["steps"] = {1, 1};
  EXPECT_TRUE(profileOfTimes(times));
  times["whole"] = {1};
  EXPECT_FALSE(profileOfTimes(times));
}
