// A judge that shares no line with us: the same schemes written as programs that send and receive,
// run by SimGrid. Skipped where SimGrid is not installed.
#include "tests/unit/simulate/Scenes.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::simulate;

#ifndef SYNCLINE_SIMGRID

TEST(SimGridTest, AgreesOnRandomClustersAndPlans) {
  GTEST_SKIP() << "SimGrid (libsimgrid-dev) is not installed";
}

#else

#include "passes/simulate/ClipByNorm.h"
#include "passes/simulate/IssueOrder.h"
#include "passes/solver/OrderPlanner.h"
#include "tests/support/TraceOrder.h"
#include "tests/unit/simulate/SimGridJudge.h"

#include <random>
#include <set>

namespace {

/// Two to eight ranks with unequal links and speeds; messages by all kinds of schemes, on one or
/// two channels that share the links. Where it carries, three steps follow each other.
Scenario randomScenario(std::mt19937 &random, bool isCarrying) {
  auto between = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  Scenario scenario;
  Machines &machines = scenario.machines;
  machines.ranks = 2 + static_cast<int>(random() % 7);
  machines.network = problem::LinkRates{between(1e-5, 1e-4), between(1e-9, 1e-8), between(0, 2e-9)};
  machines.servers = 1 + static_cast<int>(random() % 2);
  machines.interference = random() % 3 == 0 ? 1 : between(1, 2);
  for (int rank = 0; rank < machines.ranks; ++rank) {
    machines.slowdown.push_back(between(1, 1.5));
    if (random() % 3 == 0) {
      machines.nodeNetwork[rank] = *machines.network;
      machines.nodeNetwork[rank].secondsPerByte *= between(0.5, 3);
    }
  }
  const bool isPower = (machines.ranks & (machines.ranks - 1)) == 0;
  const int messages = 1 + static_cast<int>(random() % 5);
  const int channels = 1 + static_cast<int>(random() % 2);
  std::vector<Operation> forward, backward;
  for (int i = 0; i < messages; ++i) {
    const Scheme schemes[] = {Scheme::ring, Scheme::tree, Scheme::factors, Scheme::parameterServer,
                              isPower ? Scheme::recursiveDoubling : Scheme::ring};
    scenario.messages.push_back({.name = "m",
                                 .scheme = schemes[random() % 5],
                                 .bytes = 840 * static_cast<std::int64_t>(200 + random() % 5000),
                                 .channel = static_cast<int>(random() % channels)});
    backward.push_back({.phase = Phase::backward, .layer = "b", .seconds = between(1e-3, 1e-2)});
    backward.push_back({.kind = Operation::Kind::issue, .message = i});
    forward.push_back({.layer = "f", .seconds = between(1e-3, 1e-2)});
  }
  scenario.steps = isCarrying ? 3 : 1;
  std::vector<Operation> updates;
  for (int i = 0; i < messages; ++i) {
    // What is sent last is needed first, before its part of the forward pass.
    const bool isCarried = isCarrying && random() % 3 != 0;
    std::vector<Operation> &place = isCarried ? forward : updates;
    place.insert(isCarried ? place.begin() + (messages - 1 - i) : place.end(),
                 {{.kind = Operation::Kind::wait, .message = i},
                  {.kind = Operation::Kind::update, .seconds = between(1e-4, 1e-3), .message = i}});
  }
  for (const auto *part : {&forward, &backward, &updates})
    scenario.operations.insert(scenario.operations.end(), part->begin(), part->end());
  return scenario;
}

void expectAgreement(bool isCarrying) {
  std::mt19937 random(7);
  double worst = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Scenario scenario = randomScenario(random, isCarrying);
    if (!isCarrying && trial % 3 == 0)
      clipByNorm(scenario, 0.2);
    Result<Simulation> ours = runScenario(scenario);
    ASSERT_TRUE(ours) << ours.status().message();
    const std::vector<double> theirs = judged(scenario);
    const std::size_t ends = scenario.messages.size() + 1;
    ASSERT_EQ(theirs.size(), scenario.steps * ends) << "trial " << trial;
    auto compare = [&](double own, double other, const std::string &what) {
      worst = std::max(worst, std::abs(own / other - 1));
      EXPECT_NEAR(own, other, 0.03 * other)
          << "trial " << trial << ", " << what << ", " << scenario.machines.ranks << " ranks";
    };
    for (int step = 0; step < scenario.steps; ++step) {
      for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
        double end = 0;
        for (int rank = 0; rank < ours->ranks; ++rank)
          end = std::max(end, ours->message(step, rank, i).end);
        compare(end, theirs[step * ends + i], std::string(schemeName(scenario.messages[i].scheme)));
      }
      compare(ours->stepEnd(step), theirs[(step + 1) * ends - 1], "step");
    }
  }
  ::testing::Test::RecordProperty("worst", std::to_string(worst));
  std::printf("worst difference: %.3g %%\n", 100 * worst);
}

} // namespace

TEST(SimGridTest, AgreesOnRandomClustersAndPlans) { expectAgreement(false); }

/// Four steps of an order: each reader waits for the messages with its gradient, and a message is
/// handed over once its gradients exist.
Scenario scenarioOf(const problem::OrderProblem &problem, const problem::OrderSolution &order,
                    const problem::LinkRates &rates, int ranks) {
  Scenario scenario;
  scenario.machines = {.ranks = ranks, .network = rates};
  scenario.machines.slowdown.assign(static_cast<std::size_t>(ranks), 1);
  scenario.steps = 4;
  const problem::ClassLayout layout(problem.sync, order.choices, 0);
  std::vector<std::vector<int>> carriers(problem.tail.size()); // by layer
  std::vector<double> ready;                                   // by message
  for (const problem::OrderMessage &message : order.messages) {
    ready.push_back(0);
    for (std::size_t i = layout.indexAt(message.begin); i <= layout.indexAt(message.end - 1); ++i) {
      const std::size_t layer = layout.layers[i];
      if (message.half != Half::first) // the all-gather brings the gradients
        carriers[layer].push_back(static_cast<int>(scenario.messages.size()));
      ready.back() = std::max(ready.back(), problem.sync.layers[layer].ready);
    }
    Message &sent = scenario.messages.emplace_back(Message{.name = "m", .bytes = message.bytes()});
    sent.half = message.half;
  }
  std::set<int> awaited;
  for (std::size_t k = problem.tail.size(); k-- > 0;) {
    for (int message : carriers[k])
      if (awaited.insert(message).second)
        scenario.operations.push_back(
            {.kind = Operation::Kind::wait, .phase = Phase::update, .message = message});
    const double left = k > 0 ? problem.tail[k - 1] : 0;
    scenario.operations.push_back({.layer = "f", .seconds = problem.tail[k] - left});
  }
  std::size_t next = 0;
  double now = 0;
  for (const problem::Layer &layer : problem.sync.layers) {
    scenario.operations.push_back(
        {.phase = Phase::backward, .layer = "b", .seconds = layer.ready - now});
    now = layer.ready;
    for (; next < ready.size() && ready[next] <= now; ++next)
      scenario.operations.push_back(
          {.kind = Operation::Kind::issue, .message = static_cast<int>(next)});
  }
  return scenario;
}

/// Three steps in which two thirds of the messages reach over the step's end.
TEST(SimGridTest, AgreesWhereMessagesAreCarried) { expectAgreement(true); }

/// Whole plans of real networks: the planner's period is SimGrid's time from step to step.
TEST(SimGridTest, AgreesWithPlannedOrders) {
  double worst = 0;
  for (const char *name : {"resnet152", "vgg19", "inception-v3", "alexnet"})
    for (double gigabits : {2.5, 5.0, 10.0}) {
      SCOPED_TRACE(std::string(name) + ", Gb/s: " + std::to_string(gigabits));
      constexpr int ranks = 4;
      const auto trace = test::readTrace(SYNCLINE_SAMPLES "/traces/" + std::string(name) + ".csv");
      ASSERT_FALSE(trace.empty());
      const problem::OrderProblem problem = test::problemOf(trace, ranks, gigabits);
      const auto merged = (*solver::parsePlanner("optimal"))->plan(problem.sync);
      ASSERT_TRUE(merged);
      const auto order = solver::planOrder(problem, merged->plan).solution;
      const Scenario scenario = scenarioOf(problem, order, test::linkRates(gigabits), ranks);
      const std::vector<double> ends = judged(scenario);
      ASSERT_EQ(ends.size(), scenario.steps * (scenario.messages.size() + 1));
      const double step = ends.back() - ends[3 * (scenario.messages.size() + 1) - 1];
      EXPECT_NEAR(order.period, step, 1e-9 * step);
      worst = std::max(worst, std::abs(order.period / step - 1));
    }
  std::printf("worst difference: %.3g %%\n", 100 * worst);
}

#endif
