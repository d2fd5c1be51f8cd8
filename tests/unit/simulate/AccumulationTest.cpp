// Passes of a step of several batches: what travels, what is added up, what is left out.
#include "passes/simulate/Accumulation.h"
#include "passes/simulate/ClipByNorm.h"
#include "passes/simulate/IssueOrder.h"
#include "passes/simulate/Prediction.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::simulate;
using Kind = Operation::Kind;

namespace {

/// Forward and backward of 1 s each. Message 0 sums gradients for 2 s and is updated in 0.5 s;
/// message 1 gathers factors for 3 s, from which 0.25 s of computation make gradients that are
/// updated in 1 s.
Scenario twoMessages() {
  Scenario scenario;
  scenario.operations = {
      {.layer = "f", .seconds = 1},
      {.kind = Kind::compute, .phase = Phase::backward, .layer = "b", .seconds = 1},
      {.kind = Kind::issue, .phase = Phase::backward, .message = 0},
      {.kind = Kind::issue, .phase = Phase::backward, .message = 1},
      {.kind = Kind::wait, .phase = Phase::update, .message = 0},
      {.kind = Kind::update, .phase = Phase::update, .seconds = 0.5, .message = 0},
      {.kind = Kind::wait, .phase = Phase::update, .message = 1},
      {.kind = Kind::compute, .phase = Phase::update, .layer = "product", .seconds = 0.25},
      {.kind = Kind::update, .phase = Phase::update, .seconds = 1, .message = 1}};
  const auto taking = [](double seconds) {
    return std::make_shared<problem::AffineCost>(seconds, 0);
  };
  scenario.messages = {{.name = "sum", .bytes = 8, .cost = taking(2), .isStated = true},
                       {.name = "factors",
                        .scheme = Scheme::factors,
                        .bytes = 8,
                        .cost = taking(3),
                        .isStated = true}};
  scenario.machines = {.ranks = 2};
  return scenario;
}

double secondsOf(const Scenario &scenario) {
  const Result<Prediction> prediction = predictStep(scenario);
  EXPECT_TRUE(prediction.isOk()) << prediction.status().message();
  return prediction ? prediction->step : 0;
}

} // namespace

// Both passes, 0.5 s of a sum's 1 s update share, then 3 s of factors, the product and its sum.
TEST(AccumulationTest, OnlyFactorsTravel) {
  EXPECT_DOUBLE_EQ(secondsOf(twoMessages()), 2 + 2 + 3 + 0.25 + 1);
  const Scenario pass = accumulatingPass(twoMessages(), 0.5);
  ASSERT_EQ(pass.messages.size(), 1);
  EXPECT_EQ(pass.messages.front().name, "factors");
  EXPECT_DOUBLE_EQ(secondsOf(pass), 2 + 0.25 + 3 + 0.25 + 0.5);
}

// What a step takes beside its operations each pass takes; the loss travels once a step.
TEST(AccumulationTest, HasTheOverheadAndNoLoss) {
  Scenario step = twoMessages();
  addLoss(step, Scheme::ring);
  step.messages.back().cost = std::make_shared<problem::AffineCost>(7, 0);
  step.messages.back().isStated = true;
  addOverhead(step, 0.125);
  const Scenario pass = accumulatingPass(step, 0.5);
  EXPECT_EQ(pass.loss, -1);
  EXPECT_EQ(pass.overhead, static_cast<int>(pass.operations.size()) - 1);
  EXPECT_DOUBLE_EQ(secondsOf(pass), 6.125);
}

// Clipping belongs to the last pass.
TEST(AccumulationTest, AddsUpNoSquares) {
  Scenario step = twoMessages();
  clipByNorm(step, 0.25);
  EXPECT_DOUBLE_EQ(secondsOf(accumulatingPass(step, 0.5)), 6);
}

// A message that updates has no update beside it; its sum takes what all ranks' shares take.
TEST(AccumulationTest, AddsUpWhatAReduceScatterWouldUpdate) {
  Scenario step = twoMessages();
  step.operations.erase(step.operations.begin() + 5);
  step.messages[0].scheme = Scheme::reduceScatter;
  step.messages[0].shardUpdate = 0.25 / 8;
  EXPECT_DOUBLE_EQ(secondsOf(accumulatingPass(step, 0.5)), 6);
  clipByNorm(step, 0.25, Scheme::ring);
  EXPECT_DOUBLE_EQ(secondsOf(accumulatingPass(step, 0.5)), 6);
}

// A message that the next step waits for is waited for by the next pass.
TEST(AccumulationTest, FactorsReachIntoTheNextPass) {
  Scenario step = twoMessages();
  std::rotate(step.operations.begin(), step.operations.end() - 3, step.operations.end());
  const Scenario pass = accumulatingPass(step, 0.5);
  EXPECT_EQ(carriedMessages(pass), std::vector<bool>{true});
  // 2 s of passes and the other sum hide nothing of the factors, which are handed over last.
  EXPECT_DOUBLE_EQ(secondsOf(pass), 2 + 0.25 + 3 + 0.25 + 0.5);
}
