// What a plan is predicted to take: which ranks count, and what is done where following all of them
// would take long.
#include "passes/simulate/Prediction.h"
#include "passes/simulate/IssueOrder.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace syncline;
using namespace syncline::simulate;
using Kind = Operation::Kind;

namespace {

/// Forward 1 s, backward 1 s, then a message of 2 s under 1 s of backward and 0.5 s of
/// reconstruction, an update of 0.25 s.
Scenario oneMessage() {
  Scenario scenario;
  scenario.operations = {
      {.kind = Kind::compute, .phase = Phase::forward, .layer = "f", .seconds = 1},
      {.kind = Kind::compute, .phase = Phase::backward, .layer = "b1", .seconds = 1},
      {.kind = Kind::issue, .phase = Phase::backward, .message = 0},
      {.kind = Kind::compute, .phase = Phase::backward, .layer = "b2", .seconds = 1},
      {.kind = Kind::wait, .phase = Phase::update, .message = 0},
      {.kind = Kind::compute, .phase = Phase::update, .layer = "reconstructed", .seconds = 0.5},
      {.kind = Kind::update, .phase = Phase::update, .seconds = 0.25, .message = 0}};
  // 2 ranks by a ring: 2 rounds of half the bytes at 1e-6 s each.
  scenario.messages = {{.name = "m", .bytes = 2'000'000}};
  scenario.machines = {.ranks = 2, .network = problem::LinkRates{0, 1e-6, 0}};
  return scenario;
}

/// The step of oneMessage(), but wait, reconstruction and update stand in the forward pass, after
/// `before` of its second, and concern the step before.
Scenario carried(double before) {
  Scenario scenario = oneMessage();
  auto &operations = scenario.operations;
  std::rotate(operations.begin(), operations.end() - 3, operations.end());
  operations.insert(operations.begin(), {.layer = "f0", .seconds = before});
  operations[4].seconds = 1 - before;
  return scenario;
}

/// A random order of one to three messages on two to eight ranks, some of them slow.
Scenario randomOrder(std::mt19937 &random) {
  const auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Scenario scenario;
  auto &operations = scenario.operations;
  const int messages = 1 + static_cast<int>(random() % 3);
  for (int i = 0; i < messages; ++i) {
    operations.push_back({.layer = "f", .seconds = draw(0, 1)});
    operations.push_back({.kind = Kind::wait, .phase = Phase::update, .message = i});
    operations.push_back(
        {.kind = Kind::update, .phase = Phase::update, .seconds = draw(0, 0.1), .message = i});
    scenario.messages.push_back({.name = "m",
                                 .scheme = random() % 2 ? Scheme::tree : Scheme::ring,
                                 .bytes = static_cast<std::int64_t>(draw(1e5, 3e6))});
  }
  for (int i = messages; i-- > 0;) {
    operations.push_back({.phase = Phase::backward, .layer = "b", .seconds = draw(0, 2)});
    operations.push_back({.kind = Kind::issue, .phase = Phase::backward, .message = i});
  }
  Machines &machines = scenario.machines;
  machines.ranks = 2 + static_cast<int>(random() % 7);
  machines.network = problem::LinkRates{draw(0, 0.05), 1e-6, draw(0, 1e-7)};
  machines.interference = draw(1, 1.5);
  for (int rank = 0; rank < machines.ranks; ++rank)
    machines.slowdown.push_back(random() % 2 ? 1 : draw(1, 1.3));
  return scenario;
}

/// Whether the last two of 24 steps take equally long.
bool settles(Scenario scenario) {
  scenario.steps = 24;
  const Result<Simulation> simulation = runScenario(scenario);
  const double step = simulation->stepEnd(23) - simulation->stepEnd(22);
  return std::abs(step - (simulation->stepEnd(22) - simulation->stepEnd(21))) <= 1e-9 * step;
}

} // namespace

// Ranks that have not settled after 24 steps are predicted by the mean of many steps.
TEST(PredictionTest, IsTheMeanOfStepsThatDiffer) {
  std::mt19937 random(1);
  int count = 0;
  double worst = 0;
  for (int trial = 0; trial < 600; ++trial) {
    Scenario scenario = randomOrder(random);
    if (settles(scenario))
      continue;
    ++count;
    const Result<Prediction> prediction = predictStep(scenario);
    ASSERT_TRUE(prediction);
    scenario.steps = 400;
    scenario.warmUp = 200;
    worst = std::max(worst, std::abs(prediction->step / runScenario(scenario)->stepSeconds() - 1));
  }
  EXPECT_GT(count, 3);
  EXPECT_LT(worst, 1e-3);
}

// What a step takes beside its operations comes on top, and nowhere else.
TEST(PredictionTest, AddsTheOverheadToTheStep) {
  const Result<Prediction> without = predictStep(oneMessage());
  Scenario scenario = oneMessage();
  addOverhead(scenario, 0.125);
  const Result<Prediction> prediction = predictStep(scenario);
  ASSERT_TRUE(without && prediction);
  EXPECT_DOUBLE_EQ(prediction->step, without->step + 0.125);
  EXPECT_EQ(prediction->messages[0].reconstructed, without->messages[0].reconstructed);
  EXPECT_EQ(prediction->backwardEnd, without->backwardEnd);
  EXPECT_EQ(prediction->updates, without->updates);
  Scenario next = carried(0.5); // with a message that is over before the step is
  next.messages[0].bytes = 1000;
  const double period = predictStep(next)->step;
  addOverhead(next, 0.125);
  EXPECT_DOUBLE_EQ(predictStep(next)->step, period + 0.125);
  Scenario same = oneMessage();
  addOverhead(same, 0);
  EXPECT_EQ(same.operations.size(), oneMessage().operations.size());
}

TEST(PredictionTest, IsOfOneStep) {
  Scenario scenario = oneMessage();
  scenario.steps = 3;
  scenario.jitter = 0.1;
  Result<Prediction> prediction = predictStep(scenario);
  ASSERT_TRUE(prediction);
  ASSERT_EQ(prediction->messages.size(), 1u);
  const PredictedMessage &message = prediction->messages[0];
  EXPECT_DOUBLE_EQ(message.ready, 2);
  EXPECT_DOUBLE_EQ(message.start, 2);
  EXPECT_DOUBLE_EQ(message.end, 4);
  EXPECT_DOUBLE_EQ(message.reconstructed, 4.5);
  EXPECT_DOUBLE_EQ(message.exposed, 1);
  EXPECT_DOUBLE_EQ(prediction->forwardEnd, 1);
  EXPECT_DOUBLE_EQ(prediction->backwardEnd, 3);
  EXPECT_DOUBLE_EQ(prediction->communicationEnd, 4);
  EXPECT_DOUBLE_EQ(prediction->reconstructionEnd, 4.5);
  EXPECT_DOUBLE_EQ(prediction->updates, 0.25);
  EXPECT_DOUBLE_EQ(prediction->step, 4.75);
}

// The message of 2 s hides behind 1 s of backward and what the next forward pass computes before it
// waits. Its times count from the step that issues it.
TEST(PredictionTest, IsOfStepsThatTakeEquallyLong) {
  Result<Prediction> prediction = predictStep(carried(0.25));
  ASSERT_TRUE(prediction);
  const PredictedMessage &message = prediction->messages[0];
  EXPECT_DOUBLE_EQ(message.exposed, 0.75);
  EXPECT_DOUBLE_EQ(prediction->step, 4.5); // 3 s of passes, 0.75 s each of waiting and the rest
  EXPECT_DOUBLE_EQ(prediction->forwardEnd, 2.5);
  EXPECT_DOUBLE_EQ(prediction->backwardEnd, 4.5);
  EXPECT_DOUBLE_EQ(message.ready, 3.5);
  EXPECT_DOUBLE_EQ(message.start, 3.5);
  EXPECT_DOUBLE_EQ(message.end, 5.5);
  EXPECT_DOUBLE_EQ(message.reconstructed, 6);
  EXPECT_DOUBLE_EQ(prediction->communicationEnd, 5.5);
  EXPECT_DOUBLE_EQ(prediction->updates, 0.25);

  prediction = predictStep(carried(1));
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->messages[0].exposed, 0);
  EXPECT_DOUBLE_EQ(prediction->step, 3.75);
}

// A slow rank settles after some steps; then all ranks take as long as it does.
TEST(PredictionTest, SettlesWithASlowRank) {
  Scenario scenario = carried(0.25);
  scenario.machines.slowdown = {1, 2};
  Result<Prediction> prediction = predictStep(scenario);
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->step, 7.5); // all that it computes; the message is over before
}

// The first step waits for nothing; the mean leaves it out. The critical path leads from the wait
// to the step that issued the message.
TEST(PredictionTest, FollowsCarriedMessagesBack) {
  Scenario scenario = carried(0.25);
  scenario.steps = 3;
  Result<Simulation> simulation = runScenario(scenario);
  ASSERT_TRUE(simulation);
  EXPECT_DOUBLE_EQ(simulation->stepEnd(0), 3);
  EXPECT_DOUBLE_EQ(simulation->stepEnd(2), 12);
  EXPECT_DOUBLE_EQ(simulation->stepSeconds(), 4.5);
  EXPECT_DOUBLE_EQ(simulation->exposed(scenario), 0.75);
  double covered = 0;
  int messages = 0;
  for (const CriticalPart &part : criticalPath(scenario, *simulation)) {
    EXPECT_DOUBLE_EQ(part.start, covered);
    covered = part.end;
    messages += part.kind == CriticalPart::Kind::message;
  }
  EXPECT_DOUBLE_EQ(covered, 12);
  EXPECT_EQ(messages, 2);
}

// An update of the step before cannot follow the next issue.
TEST(PredictionTest, RefusesAnUpdateAfterTheNextIssue) {
  Scenario scenario = carried(0.25);
  std::rotate(scenario.operations.begin() + 3, scenario.operations.begin() + 4,
              scenario.operations.end());
  EXPECT_EQ(predictStep(scenario).status().message(),
            "scenario: message 0: expected issue, wait, update in this order, or wait, update, "
            "issue");
}

// The slow rank has everything last, and waits least.
TEST(PredictionTest, CountsTheSlowestRank) {
  Scenario scenario = oneMessage();
  scenario.machines.slowdown = {1, 2};
  Result<Prediction> prediction = predictStep(scenario);
  ASSERT_TRUE(prediction);
  const PredictedMessage &message = prediction->messages[0];
  EXPECT_DOUBLE_EQ(message.ready, 4);
  EXPECT_DOUBLE_EQ(message.end, 6);
  EXPECT_DOUBLE_EQ(message.reconstructed, 7);
  EXPECT_DOUBLE_EQ(message.exposed, 0);
  EXPECT_DOUBLE_EQ(prediction->forwardEnd, 2);
  EXPECT_DOUBLE_EQ(prediction->backwardEnd, 6);
  EXPECT_DOUBLE_EQ(prediction->updates, 0.5);
  EXPECT_DOUBLE_EQ(prediction->step, 7.5);
  EXPECT_EQ(prediction->ranks, 2);
}

// Beside the message 1 s of backward takes 2 s: nothing is waited for.
TEST(PredictionTest, HasComputationSlowerBesideMessages) {
  Scenario scenario = oneMessage();
  scenario.machines.interference = 2;
  Result<Prediction> prediction = predictStep(scenario);
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->backwardEnd, 4);
  EXPECT_DOUBLE_EQ(prediction->messages[0].exposed, 0);
  EXPECT_DOUBLE_EQ(prediction->step, 4.75);
}

// A million ranks of which one is slow: one as slow stands for all, and messages take their cost.
TEST(PredictionTest, IsBounded) {
  for (Scheme scheme : {Scheme::ring, Scheme::halvingDoubling, Scheme::parameterServer}) {
    Scenario scenario = oneMessage();
    scenario.machines.ranks = 1'000'000;
    scenario.machines.slowdown.assign(1'000'000, 1);
    scenario.machines.slowdown[17] = 3;
    scenario.machines.nodeNetwork[5] = problem::LinkRates{0, 1e-5, 0};
    scenario.messages[0].scheme = scheme;
    scenario.messages[0].cost = std::make_shared<problem::AffineCost>(7, 0);
    Result<Prediction> prediction = predictStep(scenario);
    ASSERT_TRUE(prediction);
    EXPECT_EQ(prediction->ranks, 1);
    EXPECT_DOUBLE_EQ(prediction->messages[0].start, 6);
    EXPECT_DOUBLE_EQ(prediction->messages[0].end, 13);
    EXPECT_DOUBLE_EQ(prediction->step, 13 + 3 * 0.75);
  }
}

// What cannot be simulated cannot be predicted.
TEST(PredictionTest, RefusesWhatIsNoScenario) {
  Scenario scenario = oneMessage();
  scenario.machines.network.reset();
  EXPECT_EQ(predictStep(scenario).status().exitCode(), 1);
}

// The loss has the channel for 3 s, so that the message begins 1 s late; it is no gradient's, so
// that the prediction does not list it.
TEST(PredictionTest, HasMessagesWaitForTheLoss) {
  Scenario scenario = oneMessage();
  scenario.messages.push_back(
      {.name = "loss", .cost = std::make_shared<problem::AffineCost>(3, 0), .isStated = true});
  scenario.loss = 1;
  scenario.operations.insert(scenario.operations.begin(), {.kind = Kind::issue, .message = 1});
  scenario.operations.push_back({.kind = Kind::wait, .phase = Phase::update, .message = 1});
  Result<Prediction> prediction = predictStep(scenario);
  ASSERT_TRUE(prediction);
  ASSERT_EQ(prediction->messages.size(), 1u);
  EXPECT_DOUBLE_EQ(prediction->messages[0].ready, 2);
  EXPECT_DOUBLE_EQ(prediction->messages[0].start, 3);
  EXPECT_DOUBLE_EQ(prediction->step, 5.75);
}

// It is the last message, as a prediction leaves the last one out.
TEST(PredictionTest, RefusesALossBeforeOtherMessages) {
  Scenario scenario = oneMessage();
  scenario.loss = 0;
  scenario.messages.push_back(scenario.messages[0]);
  const Result<Prediction> prediction = predictStep(scenario);
  ASSERT_FALSE(prediction);
  EXPECT_EQ(prediction.status().message(),
            "scenario: expected the loss's message behind the others");
}
