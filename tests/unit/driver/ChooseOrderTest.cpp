// Which order is taken where steps scatter, judged by whole plans of every order in the same steps.
#include "passes/candidates/ChooseOrder.h"

#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/cluster/MessageScatter.h"
#include "passes/candidates/ChoosePlan.h"
#include "passes/simulate/Disturbance.h"
#include "passes/simulate/Simulation.h"
#include "passes/simulate/ir/ReadScenario.h"
#include "passes/solver/Planner.h"
#include "tests/unit/driver/Dialects.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <string>

namespace syncline::candidates {
namespace {

using mlir::ModuleOp;
using Owned = mlir::OwningOpRef<ModuleOp>;

/// Eight layers of a model on two ranks, whose steps scatter as stated, if at all. A byte takes
/// `beta` seconds. Messages scatter, too, where `messages` says how.
Owned stepOn(const std::string &beta, const std::string &scatter,
             const std::string &messages = "") {
  constexpr int layers = 8;
  std::string text = R"(module attributes {cluster.spec = #cluster.spec<name = "c", ranks = 2,
    device = <compute = 1.0e10, memory = 1.0e10, launchOverhead = 0.0>,
    link = <alpha = 1.0e-5, beta = )" +
                     beta + ", gamma = 0.0>>" +
                     (scatter.empty() ? "" : ", cluster.scatter = " + scatter) +
                     (messages.empty() ? "" : ", cluster.message_scatter = " + messages) + R"(} {
    nn.step @step batch 8 {
    %x0 = nn.input "x" : tensor<8x64x64xf32>
    %t = nn.target "t" : tensor<8x64x64xf32>
  )";
  const auto name = [](const char *what, int i) { return what + std::to_string(i); };
  for (int i = 0; i < layers; ++i)
    text += name("%w", i) + " = nn.parameter \"" + name("w", i) + "\" at " +
            std::to_string(16384 * i) + " : tensor<64x64x1xf32>\n";
  for (int i = 0; i < layers; ++i)
    text += name("%x", i + 1) + " = nn.conv " + name("%x", i) + ", " + name("%w", i) +
            " {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 0>, "
            "pads_end = array<i64: 0>, groups = 1 : i64, nn.layer = \"" +
            name("l", i) +
            "\"} : (tensor<8x64x64xf32>, tensor<64x64x1xf32>) -> "
            "tensor<8x64x64xf32>\n";
  text += "%l, %d = nn.mean_squared_error " + name("%x", layers) +
          R"(, %t : (tensor<8x64x64xf32>, tensor<8x64x64xf32>) -> (tensor<f32>, tensor<8x64x64xf32>)
    nn.output )" +
          name("%x", layers) + R"( "y" : tensor<8x64x64xf32>
    nn.loss %l : tensor<f32>
  }})";
  auto module = mlir::parseSourceString<ModuleOp>(text, &test::dialects());
  EXPECT_TRUE(module);
  return module;
}

Result<Choice> planned(ModuleOp source, const std::string &overlap) {
  Request request;
  request.asked.planner = *solver::parsePlanner("optimal");
  request.asked.overlap = overlap;
  request.opensOverlap = overlap == "auto";
  return choosePlan(request, source, [](const Candidate &, ModuleOp) { return Status::ok(); }, {});
}

std::vector<sync::DisturbedPlan> disturbed(const Result<Choice> &choice) {
  EXPECT_TRUE(choice) << choice.status().message();
  return choice ? sync::disturbedOf(firstOf<sync::PredictionOp>(*choice->plan))
                : std::vector<sync::DisturbedPlan>();
}

/// The mean of the drawn steps by the program itself, operation by operation.
double meanOf(ModuleOp module) {
  const auto plan = simulate::SimulatedPlan::create(module);
  EXPECT_TRUE(plan);
  auto scenario = plan->asPlanned(plan->problem().cluster());
  EXPECT_TRUE(scenario);
  scenario->scatter = simulate::drawSteps(scenario->scatter, 2);
  if (const std::vector<double> messages = cluster::messageScatterOf(module); !messages.empty())
    scenario->messageScatter = simulate::drawMessages(messages, scenario->messages.size());
  scenario->replaysScatter = true;
  scenario->warmUp = plan->problem().hasOrder() ? simulate::carriedWarmUp : 0;
  scenario->steps = scenario->warmUp + simulate::disturbedSteps;
  const auto simulation = simulate::runScenario(*scenario);
  EXPECT_TRUE(simulation);
  return simulation->stepSeconds();
}

/// The whole plan by one planner.
double meanBy(ModuleOp source, const std::string &planner, const std::string &overlap) {
  PipelineOptions options;
  options.planner = *solver::plannerOfPlan(planner);
  options.overlap = overlap;
  Owned module = source.clone();
  EXPECT_TRUE(runPasses(*module, buildPipeline, options));
  return meanOf(*module);
}

const std::string calm = "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]",
                  late = "[[1.0, 1.5, 1.0, 1.0, 1.1], [1.0, 1.0, 1.0, 1.5, 1.0]]";

// No plan that could have been taken has a shorter mean.
void expectLeastMean(const std::string &beta, const std::string &messages) {
  SCOPED_TRACE(beta + " " + messages);
  const Owned source = stepOn(beta, late, messages);
  const Result<Choice> choice = planned(*source, "step");
  const auto plans = disturbed(choice);
  ASSERT_GE(plans.size(), 2u);
  const double taken = meanOf(*choice->plan);
  EXPECT_NEAR(plans[0].mean, taken, 1e-6 * taken);
  EXPECT_NEAR(plans[1].mean, meanBy(*source, "optimal", "backward"), 1e-6 * taken);
  EXPECT_FALSE(plans[1].crosses);
  for (const char *planner :
       {"optimal", "inflated:0:whole", "inflated:5", "inflated:5:whole", "inflated:10",
        "inflated:10:whole", "inflated:20", "inflated:20:whole"})
    EXPECT_GE(meanBy(*source, planner, "step"), taken * (1 - 1e-6)) << planner;
}

TEST(ChooseOrder, TakesTheLeastMean) {
  for (const char *beta : {"2.0e-8", "1.0e-7", "2.5e-7"})
    for (const char *messages : {"", "[0.9, 1.0, 1.0, 3.0]"})
      expectLeastMean(beta, messages);
}

// Messages that scatter lengthen the drawn steps; numbers that are all 1 do not.
TEST(ChooseOrder, MessagesScatter) {
  const std::string beta = "1.0e-7";
  const auto without = disturbed(planned(*stepOn(beta, late), "step")),
             same = disturbed(planned(*stepOn(beta, late, "[1.0, 1.0]"), "step")),
             longer = disturbed(planned(*stepOn(beta, late, "[1.0, 1.0, 1.0, 3.0]"), "step"));
  ASSERT_EQ(same.size(), without.size());
  for (std::size_t i = 0; i < same.size(); ++i) {
    EXPECT_EQ(same[i].planner, without[i].planner);
    EXPECT_EQ(same[i].mean, without[i].mean);
  }
  ASSERT_GE(longer.size(), 2u);
  for (std::size_t i : {0, 1})
    EXPECT_GT(longer[i].mean, 1.01 * without[i].mean);
}

TEST(ChooseOrder, IsTheSameEachTime) {
  const Owned source = stepOn("1.0e-7", late);
  const auto one = planned(*source, "step"), other = planned(*source, "step");
  ASSERT_TRUE(one && other);
  std::string texts[2];
  llvm::raw_string_ostream(texts[0]) << **one->plan;
  llvm::raw_string_ostream(texts[1]) << **other->plan;
  EXPECT_EQ(texts[0], texts[1]);
}

// Nothing is compared where nothing was measured of computation.
TEST(ChooseOrder, WithoutScatter) {
  const Owned source = stepOn("1.0e-7", "");
  for (const char *overlap : {"step", "auto"}) {
    EXPECT_TRUE(disturbed(planned(*source, overlap)).empty());
    EXPECT_TRUE(disturbed(planned(*stepOn("1.0e-7", "", "[1.0, 3.0]"), overlap)).empty());
  }
  const Result<Choice> choice = planned(*source, "step");
  EXPECT_EQ(firstOf<sync::SolutionOp>(*choice->plan).getPlanner(), "optimal");
}

// The order or the barrier, whichever has the shorter mean, with the other one beside it.
TEST(ChooseOrder, AgainstTheBarrier) {
  int orders = 0, barriers = 0;
  for (const std::string &scatter : {calm, late, std::string("[[1.0, 4.0], [4.0, 1.0]]")})
    for (const char *beta : {"2.0e-8", "4.0e-8", "1.0e-7", "1.0e-6"}) {
      SCOPED_TRACE(scatter + " " + beta);
      const Owned source = stepOn(beta, scatter);
      const Result<Choice> choice = planned(*source, "auto");
      const auto plans = disturbed(choice);
      if (plans.empty()) // messages cost less than 1 % of the step
        continue;
      const bool crosses = plans[0].crosses;
      (crosses ? orders : barriers) += 1;
      ASSERT_EQ(plans[1].crosses, !crosses);
      EXPECT_LE(plans[0].mean, plans[1].mean);
      EXPECT_EQ(choice->outcomes[choice->chosen].candidate.overlap, crosses ? "step" : "backward");
      EXPECT_NEAR(plans[0].mean, meanOf(*choice->plan), 1e-6 * plans[0].mean);
    }
  EXPECT_GT(orders, 0);
  EXPECT_GT(barriers, 0);
}

// An order has no slack: where each rank is late in turn, it loses what it gains without.
TEST(ChooseOrder, ScatterMakesTheOrderLose) {
  const std::string beta = "1.0e-6", inTurn = "[[1.0, 4.0], [4.0, 1.0]]";
  for (const std::string &scatter : {std::string(), calm}) {
    const Result<Choice> without = planned(*stepOn(beta, scatter), "auto");
    ASSERT_TRUE(without);
    EXPECT_EQ(without->outcomes[without->chosen].candidate.overlap, "step");
  }
  const Result<Choice> choice = planned(*stepOn(beta, inTurn), "auto");
  const auto plans = disturbed(choice);
  ASSERT_GE(plans.size(), 2u);
  EXPECT_FALSE(plans[0].crosses);
  for (std::size_t i = 1; i < plans.size(); ++i) {
    EXPECT_TRUE(plans[i].crosses);
    EXPECT_GT(plans[i].mean, plans[0].mean);
  }
}

} // namespace
} // namespace syncline::candidates
