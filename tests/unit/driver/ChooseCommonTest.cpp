// The buckets that plans of one model for several sizes share.
#include "passes/candidates/ChooseCommon.h"

#include "ir/FirstOf.h"
#include "ir/plan/Plan.h"
#include "passes/solver/Planner.h"
#include "tests/unit/driver/Dialects.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace syncline::candidates {
namespace {

/// A chain of four convolutions over `length` places, on four ranks.
mlir::OwningOpRef<mlir::ModuleOp> chain(int length) {
  const std::string dense = "tensor<8x64x" + std::to_string(length) + "xf32>";
  std::string text = R"(module attributes {cluster.spec = #cluster.spec<name = "c", ranks = 4,
      device = <compute = 1.0e10, memory = 1.0e10, launchOverhead = 0.0>,
      link = <alpha = 1.0e-4, beta = 1.0e-8, gamma = 0.0>>} {
    nn.step @step batch 8 {
    %x0 = nn.input "x" : )" +
                     dense + "\n%t = nn.target \"t\" : " + dense + "\n";
  for (int i = 0; i < 4; ++i)
    text += "%w" + std::to_string(i) + " = nn.parameter \"w" + std::to_string(i) + "\" at " +
            std::to_string(16384 * i) + " : tensor<64x64x1xf32>\n";
  for (int i = 0; i < 4; ++i)
    text += "%x" + std::to_string(i + 1) + " = nn.conv %x" + std::to_string(i) + ", %w" +
            std::to_string(i) +
            " {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 0>, "
            "pads_end = array<i64: 0>, groups = 1 : i64, nn.layer = \"c" +
            std::to_string(i) + "\"} : (" + dense + ", tensor<64x64x1xf32>) -> " + dense + "\n";
  text += "%l, %d = nn.mean_squared_error %x4, %t : (" + dense + ", " + dense +
          ") -> (tensor<f32>, " + dense + ")\nnn.output %x4 \"y\" : " + dense +
          "\nnn.loss %l : tensor<f32>\n}}";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &test::dialects());
  EXPECT_TRUE(module);
  return module;
}

std::vector<mlir::Attribute> bucketsOf(mlir::ModuleOp plan) {
  std::vector<mlir::Attribute> members;
  for (auto bucket : firstOf<plan::ProgramOp>(plan).getOps<plan::BucketOp>())
    members.push_back(bucket.getMembers());
  return members;
}

Request optimally() {
  Request request;
  request.asked.planner = *solver::parsePlanner("optimal");
  return request;
}

const ExpectFits anything = [](const Candidate &, mlir::ModuleOp) { return Status::ok(); };

/// The sum of the steps of all sizes by buckets that were chosen for `decided`.
double sumBy(std::size_t decided, const std::vector<mlir::ModuleOp> &sources) {
  // The choice among equal sources has no other decisions to take.
  double sum = 0;
  for (mlir::ModuleOp source : sources) {
    const auto both = chooseCommon(optimally(), {source, sources[decided]}, anything, {});
    EXPECT_TRUE(both.isOk());
    if (both.isOk() && both->decided == 1)
      sum += stepOf(*both->plans[0].plan);
    else
      return 1e9;
  }
  return sum;
}

TEST(ChooseCommon, SharesTheBucketsOfTheLeastSum) {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<mlir::ModuleOp> sources;
  for (const int length : {1, 64, 4096}) {
    modules.push_back(chain(length));
    sources.push_back(*modules.back());
  }
  const auto common = chooseCommon(optimally(), sources, anything, {});
  ASSERT_TRUE(common.isOk()) << common.status().message();
  ASSERT_EQ(common->plans.size(), 3U);
  std::size_t otherOwn = 0;
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const mlir::ModuleOp plan = *common->plans[i].plan;
    EXPECT_EQ(bucketsOf(plan), bucketsOf(*common->plans[common->decided].plan));
    EXPECT_GE(stepOf(plan), common->ownSteps[i] * (1 - leastGain));
    sum += stepOf(plan);
    const auto own = choosePlan(optimally(), sources[i], anything, {});
    ASSERT_TRUE(own.isOk());
    otherOwn += bucketsOf(*own->plan) != bucketsOf(plan);
  }
  EXPECT_GT(otherOwn, 0U); // or there would be nothing to choose
  for (std::size_t decided = 0; decided < 3; ++decided)
    EXPECT_LE(sum, sumBy(decided, sources) * (1 + 1e-9));
}

TEST(ChooseCommon, SaysWhyASizeHasNoPlan) {
  auto one = chain(8), other = chain(16);
  const ExpectFits refuse = [](const Candidate &, mlir::ModuleOp) {
    return Status::badInput("the plan needs more");
  };
  EXPECT_EQ(chooseCommon(optimally(), {*one, *other}, refuse, {}).status().message(),
            "the plan needs more");
}

} // namespace
} // namespace syncline::candidates
