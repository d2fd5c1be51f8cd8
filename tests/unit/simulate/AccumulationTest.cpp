// Steps of several micro-batches: what travels, what is added up, what is left out.
#include "passes/simulate/Accumulation.h"
#include "passes/simulate/ClipByNorm.h"
#include "passes/simulate/IssueOrder.h"
#include "passes/simulate/Prediction.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

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

/// A step with six messages by factors or sums, of stated costs that hide in part. With `isCarried`
/// the next step waits for them.
Scenario randomStep(std::uint64_t seed, bool isCarried) {
  std::mt19937_64 random(seed);
  const auto upTo = [&](double most) {
    return most * static_cast<double>(random() % 1000 + 1) / 1000;
  };
  Scenario step;
  step.machines = {.ranks = 2};
  std::vector<Operation> updates;
  for (int i = 0; i < 6; ++i) {
    const bool gathers = random() % 2 == 0;
    step.messages.push_back({.name = std::to_string(i),
                             .scheme = gathers ? Scheme::factors : Scheme::ring,
                             .bytes = 8,
                             .cost = std::make_shared<problem::AffineCost>(upTo(3), 0),
                             .isStated = true});
    updates.push_back({.kind = Kind::wait, .phase = Phase::update, .message = i});
    if (gathers)
      updates.push_back({.phase = Phase::update, .layer = "product", .seconds = upTo(0.5)});
    updates.push_back(
        {.kind = Kind::update, .phase = Phase::update, .seconds = upTo(0.5), .message = i});
  }
  if (isCarried)
    step.operations = updates;
  step.operations.push_back({.layer = "f", .seconds = upTo(3)});
  for (int i = 0; i < 6; ++i) {
    step.operations.push_back({.phase = Phase::backward, .layer = "b", .seconds = upTo(1)});
    step.operations.push_back({.kind = Kind::issue, .phase = Phase::backward, .message = i});
  }
  if (!isCarried)
    step.operations.insert(step.operations.end(), updates.begin(), updates.end());
  return step;
}

} // namespace

// Forward and backward, 0.5 s of a sum's 1 s update share, then 3 s of factors, the product and
// its sum.
TEST(AccumulationTest, OnlyFactorsTravel) {
  EXPECT_DOUBLE_EQ(secondsOf(twoMessages()), 2 + 2 + 3 + 0.25 + 1);
  const Scenario microBatch = accumulatingMicroBatch(twoMessages(), 0.5);
  ASSERT_EQ(microBatch.messages.size(), 1);
  EXPECT_EQ(microBatch.messages.front().name, "factors");
  EXPECT_DOUBLE_EQ(secondsOf(microBatch), 2 + 0.25 + 3 + 0.25 + 0.5);
}

// What a step takes beside its operations each micro-batch takes; the loss travels once a step.
TEST(AccumulationTest, HasTheOverheadAndNoLoss) {
  Scenario step = twoMessages();
  addLoss(step, Scheme::ring);
  step.messages.back().cost = std::make_shared<problem::AffineCost>(7, 0);
  step.messages.back().isStated = true;
  addOverhead(step, 0.125);
  const Scenario microBatch = accumulatingMicroBatch(step, 0.5);
  EXPECT_EQ(microBatch.loss, -1);
  EXPECT_EQ(microBatch.overhead, static_cast<int>(microBatch.operations.size()) - 1);
  EXPECT_DOUBLE_EQ(secondsOf(microBatch), 6.125);
}

// Clipping belongs to the last micro-batch.
TEST(AccumulationTest, AddsUpNoSquares) {
  Scenario step = twoMessages();
  clipByNorm(step, 0.25);
  EXPECT_DOUBLE_EQ(secondsOf(accumulatingMicroBatch(step, 0.5)), 6);
}

// A message that updates has no update beside it; its sum takes what all ranks' shares take.
TEST(AccumulationTest, AddsUpWhatAReduceScatterWouldUpdate) {
  Scenario step = twoMessages();
  step.operations.erase(step.operations.begin() + 5);
  step.messages[0].scheme = Scheme::reduceScatter;
  step.messages[0].shardUpdate = 0.25 / 8;
  EXPECT_DOUBLE_EQ(secondsOf(accumulatingMicroBatch(step, 0.5)), 6);
  clipByNorm(step, 0.25, Scheme::ring);
  EXPECT_DOUBLE_EQ(secondsOf(accumulatingMicroBatch(step, 0.5)), 6);
}

// A message that the next step waits for is waited for by the next micro-batch.
TEST(AccumulationTest, FactorsReachIntoTheNextMicroBatch) {
  Scenario step = twoMessages();
  std::rotate(step.operations.begin(), step.operations.end() - 3, step.operations.end());
  const Scenario microBatch = accumulatingMicroBatch(step, 0.5);
  EXPECT_EQ(carriedMessages(microBatch), std::vector<bool>{true});
  // 2 s of computation and the other sum hide nothing of the factors, which are handed over last.
  EXPECT_DOUBLE_EQ(secondsOf(microBatch), 2 + 0.25 + 3 + 0.25 + 0.5);
}

// 400 random steps of two to five micro-batches: the last micro-batch and the others, each
// predicted by itself, take as long as all of them one behind the other.
TEST(AccumulationTest, MicroBatchesAddUpToTheWholeStep) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const bool isCarried = seed % 2 == 0;
    const int microBatches = 2 + static_cast<int>(seed % 4);
    const Scenario step = randomStep(seed, isCarried);
    const double sum =
        secondsOf(step) + (microBatches - 1) * secondsOf(accumulatingMicroBatch(step, 0.6));
    const double whole = secondsOf(wholeStep(step, microBatches, 0.6));
    EXPECT_NEAR(sum, whole, 1e-9 * whole);
  }
}

/// What a rank does, as "f" or "wait 2", in the order of issue.
static std::vector<std::string> wordsOf(const Scenario &scenario) {
  const std::map<Kind, std::string> names{{Kind::issue, "issue "},
                                          {Kind::wait, "wait "},
                                          {Kind::square, "square "},
                                          {Kind::update, "update "}};
  std::vector<std::string> words;
  for (const Operation &op : scenario.operations)
    words.push_back(op.kind == Kind::compute ? op.layer
                                             : names.at(op.kind) + std::to_string(op.message));
  return words;
}

// 2.25 s until factors travel for 3 s and become gradients in 0.75 s; 2 s of the last micro-batch,
// 2 s of the sum, 3 s of factors, 1.25 s behind them.
TEST(AccumulationTest, TwoMicroBatchesTakeTheirTime) {
  EXPECT_DOUBLE_EQ(secondsOf(wholeStep(twoMessages(), 2, 0.5)), 14.25);
}

// Behind eight micro-batches, each of which hides what is left of the loss, another takes as long
// as one by itself.
TEST(AccumulationTest, FurtherMicroBatchesTakeEquallyLong) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario step = randomStep(seed, seed % 2 == 0);
    addLoss(step, Scheme::ring);
    step.messages.back().cost = std::make_shared<problem::AffineCost>(5, 0);
    step.messages.back().isStated = true;
    const double eight = secondsOf(wholeStep(step, 8, 0.6));
    const double eleven = secondsOf(wholeStep(step, 11, 0.6));
    EXPECT_NEAR(eleven, eight + 3 * secondsOf(accumulatingMicroBatch(step, 0.6)), 1e-9 * eleven);
  }
}

// The first micro-batch adds both gradients up and has factors of its own, message 2. The loss
// is last.
TEST(AccumulationTest, WritesDownAllMicroBatches) {
  Scenario step = twoMessages();
  addLoss(step, Scheme::ring);
  addOverhead(step, 0.125);
  const Scenario whole = wholeStep(step, 2, 0.5);
  EXPECT_EQ(wordsOf(whole),
            (std::vector<std::string>{"issue 3", "f",       "b",        "sum",      "issue 2",
                                      "wait 2",  "product", "factors",  "overhead", "f",
                                      "b",       "issue 0", "issue 1",  "wait 0",   "update 0",
                                      "wait 1",  "product", "update 1", "wait 3",   "overhead"}));
  const Operation &sum = whole.operations[3], &factors = whole.operations[7];
  EXPECT_EQ(sum.seconds, 0.25);
  EXPECT_EQ(factors.seconds, 0.5);
  EXPECT_EQ(sum.phase, Phase::update); // a rank with fewer samples adds up as many gradients
  EXPECT_EQ(factors.phase, Phase::update);
  ASSERT_EQ(whole.messages.size(), 4u);
  EXPECT_EQ(whole.messages[2].inLastMicroBatch, 1);
  EXPECT_EQ(whole.loss, 3);
  EXPECT_EQ(whole.overhead, static_cast<int>(whole.operations.size()) - 1);
}

// The first micro-batch waits for the step before: for its sums, and the factors of its
// last micro-batch.
TEST(AccumulationTest, WritesDownMicroBatchesThatWaitForTheStepBefore) {
  Scenario step = twoMessages();
  std::rotate(step.operations.begin(), step.operations.begin() + 4, step.operations.end());
  const Scenario whole = wholeStep(step, 3, 0.5);
  EXPECT_EQ(wordsOf(whole),
            (std::vector<std::string>{
                "wait 0",  "update 0", "wait 1",  "product", "update 1", // the first
                "f",       "b",        "sum",     "issue 2",             //
                "wait 2",  "product",  "factors", "f",       "b",        //
                "sum",     "issue 3",                                    // the last
                "wait 3",  "product",  "factors", "f",       "b",        //
                "issue 0", "issue 1"}));
  EXPECT_EQ(carriedMessages(whole), (std::vector<bool>{true, true, false, false}));
}

// The factors of an earlier micro-batch take the number that the loss had in the step of one batch.
TEST(AccumulationTest, WritesDownTheLossBehindFactorsOfTheStepBefore) {
  Scenario step = twoMessages();
  std::rotate(step.operations.begin(), step.operations.begin() + 4, step.operations.end());
  addLoss(step, Scheme::ring);
  EXPECT_EQ(wordsOf(wholeStep(step, 2, 0.5)),
            (std::vector<std::string>{"issue 3", "wait 0", "update 0", "wait 1", "product",
                                      "update 1", "f", "b", "sum", "issue 2", "wait 2", "product",
                                      "factors", "f", "b", "issue 0", "issue 1", "wait 3"}));
}

// Parameters that are gathered behind the norm belong to the last micro-batch, as squares do.
TEST(AccumulationTest, WritesDownHalvesAndSquaresOnce) {
  Scenario step = twoMessages();
  step.operations.erase(step.operations.begin() + 5);
  step.messages[0].scheme = Scheme::reduceScatter;
  step.messages[0].shardUpdate = 0.25 / 8;
  clipByNorm(step, 0.25, Scheme::ring);
  step.messages.at(static_cast<std::size_t>(step.norm)).cost =
      std::make_shared<problem::AffineCost>(0.5, 0);
  step.messages.at(static_cast<std::size_t>(step.norm)).isStated = true;
  const double sum = secondsOf(step) + secondsOf(accumulatingMicroBatch(step, 0.5));
  const Scenario whole = wholeStep(step, 2, 0.5);
  EXPECT_DOUBLE_EQ(secondsOf(whole), sum);
  const auto count = [&](Kind kind) {
    return std::ranges::count(whole.operations, kind, &Operation::kind);
  };
  EXPECT_EQ(count(Kind::square), 1);
  EXPECT_EQ(count(Kind::update), 2);
  EXPECT_EQ(count(Kind::issue), 5); // two of factors, the two halves, the norm
}

// One micro-batch is the step itself.
TEST(AccumulationTest, WritesDownOneMicroBatch) {
  Scenario step = twoMessages();
  addLoss(step, Scheme::ring);
  EXPECT_EQ(wordsOf(wholeStep(step, 1, 0.5)), wordsOf(step));
}
