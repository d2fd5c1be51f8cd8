// Ranks, channels, waiting, speeds, and what is read from it.
#include "tests/unit/simulate/Scenes.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace syncline;
using namespace syncline::simulate;
using Kind = Operation::Kind;

namespace {

/// Forward 1 s, backward 1 s and 2 s with a message of 1 s after each, updates of 0.5 s.
Scenario twoMessages() {
  Scenario scenario;
  scenario.operations = {
      {.kind = Kind::compute, .phase = Phase::forward, .layer = "f", .seconds = 1},
      {.kind = Kind::compute, .phase = Phase::backward, .layer = "b1", .seconds = 1},
      {.kind = Kind::issue, .phase = Phase::backward, .message = 0},
      {.kind = Kind::compute, .phase = Phase::backward, .layer = "b2", .seconds = 2},
      {.kind = Kind::issue, .phase = Phase::backward, .message = 1},
      {.kind = Kind::wait, .phase = Phase::update, .message = 0},
      {.kind = Kind::update, .phase = Phase::update, .seconds = 0.5, .message = 0},
      {.kind = Kind::wait, .phase = Phase::update, .message = 1},
      {.kind = Kind::update, .phase = Phase::update, .seconds = 0.5, .message = 1}};
  // 2 ranks by a ring: 2 rounds of half the bytes at 1e-6 s each.
  scenario.messages = {{.name = "m0", .bytes = 1'000'000}, {.name = "m1", .bytes = 1'000'000}};
  scenario.machines = {.ranks = 2, .network = problem::LinkRates{0, 1e-6, 0}};
  return scenario;
}

std::string names(const std::vector<CriticalPart> &path) {
  std::string text;
  for (const CriticalPart &task : path)
    text += (text.empty() ? "" : " ") + task.name + "@" + std::to_string(task.rank);
  return text;
}

} // namespace

TEST(SimulatorTest, HidesMessagesBehindComputationAndUpdatesBehindMessages) {
  Result<Simulation> run = runScenario(twoMessages());
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->isFolded);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).start, 2);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).end, 3);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).end, 5);
  EXPECT_DOUBLE_EQ(run->operation(0, 0, 6).end, 4.5); // the first update, under the second message
  EXPECT_DOUBLE_EQ(run->stepSeconds(), 5.5);
  EXPECT_DOUBLE_EQ(run->communicationEnd(0), 5);
  EXPECT_DOUBLE_EQ(run->exposed(twoMessages()), 0.5);
}

TEST(SimulatorTest, EveryRankSimulatedGivesTheSameAsOneForAll) {
  Scenario scenario = twoMessages();
  scenario.machines.ranks = 4;
  scenario.steps = 3;
  const double folded = endOf(scenario);
  scenario.jitter = 1e-15;
  Result<Simulation> all = runScenario(scenario);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->ranks, 4);
  EXPECT_NEAR(all->stepEnd(2), folded, 1e-9);
}

// A device's own link may be slower than its share of the node's cards: between nodes each sends
// 1 MB over a link of 1 MB/s, before and behind it as much inside the node.
TEST(SimulatorTest, ADevicesLinkLimitsItsMessagesBetweenNodes) {
  Scenario scenario = oneMessage(Scheme::hierarchical, 2'000'000, 4);
  scenario.machines = {.ranks = 4,
                       .devicesPerNode = 2,
                       .network = problem::LinkRates{0, 1e-9, 0},
                       .inside = problem::LinkRates{0, 1e-6, 0}};
  EXPECT_NEAR(endOf(scenario), 3, 1e-9);
  EXPECT_NEAR(endOf(unfolded(scenario)), 3, 1e-9);
}

TEST(SimulatorTest, MessagesOfAChannelGoInOrderOneAtATime) {
  Scenario scenario = twoMessages();
  scenario.messages[0].bytes = 4'000'000;
  Result<Simulation> run = runScenario(scenario);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).issued, 4);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).start, 6);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).end, 7);
}

TEST(SimulatorTest, ChannelsShareALink) {
  Scenario scenario = twoMessages();
  scenario.messages[0].bytes = 4'000'000; // 2 to 6 s alone
  scenario.messages[1].channel = 1;       // 4 to 5 s alone
  Result<Simulation> run = runScenario(scenario);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).start, 4);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).end, 6);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).end, 7);
}

TEST(SimulatorTest, TheSlowestRankSetsThePace) {
  Scenario scenario = twoMessages();
  scenario.machines.ranks = 4;
  scenario.machines.slowdown = {1, 1, 3, 1};
  Result<Simulation> run = runScenario(scenario);
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->isFolded);
  EXPECT_EQ(run->lastRank(), 2);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).start, 2);
  EXPECT_DOUBLE_EQ(run->message(0, 2, 0).start, 6);
  EXPECT_EQ(run->message(0, 0, 0).decider, 2);
  EXPECT_GE(run->message(0, 0, 0).end, 6);
  EXPECT_DOUBLE_EQ(run->stepSeconds(), 15); // 12 s of operations, 3 s of updates
  // Others wait for it; it waits for nothing: its first update hides its second message.
  EXPECT_DOUBLE_EQ(run->exposed(scenario), 0);
}

TEST(SimulatorTest, JitterIsDecidedByTheSeed) {
  Scenario scenario = twoMessages();
  scenario.jitter = 0.05;
  scenario.seed = 1;
  const double first = endOf(scenario);
  EXPECT_EQ(endOf(scenario), first);
  EXPECT_NE(first, 5.5);
  EXPECT_NEAR(first, 5.5, 0.05 * 5.5);
  scenario.seed = 2;
  EXPECT_NE(endOf(scenario), first);
}

TEST(SimulatorTest, StepsFollowOneAnother) {
  Scenario scenario = twoMessages();
  scenario.steps = 3;
  Result<Simulation> run = runScenario(scenario);
  EXPECT_DOUBLE_EQ(run->stepEnd(0), 5.5);
  EXPECT_DOUBLE_EQ(run->stepEnd(2), 16.5);
  EXPECT_DOUBLE_EQ(run->stepSeconds(), 5.5);
}

TEST(SimulatorTest, TheCriticalPathIsWhatTheEndWaitedFor) {
  Scenario scenario = twoMessages();
  Result<Simulation> run = runScenario(scenario);
  EXPECT_EQ(names(criticalPath(scenario, *run)), "f@0 b1@0 b2@0 m1@0 m1@0");
  scenario.messages[0].bytes = 4'000'000;
  run = runScenario(scenario);
  EXPECT_EQ(names(criticalPath(scenario, *run)), "f@0 b1@0 m0@0 m1@0 m1@0");
  scenario.machines.slowdown = {1, 3};
  run = runScenario(scenario);
  const std::vector<CriticalPart> path = criticalPath(scenario, *run);
  double at = 0;
  for (const CriticalPart &task : path) {
    EXPECT_DOUBLE_EQ(task.start, at) << task.name;
    at = task.end;
  }
  EXPECT_DOUBLE_EQ(at, run->stepSeconds());
  EXPECT_EQ(path.front().rank, 1);
}

TEST(SimulatorTest, CountsWhatLinksCarryAndHowLongStreamsAreBusy) {
  Result<Simulation> run = runScenario(twoMessages());
  for (const ResourceUse &use : run->resources) {
    if (use.kind == "compute")
      EXPECT_DOUBLE_EQ(use.busy, 5);
    else
      EXPECT_DOUBLE_EQ(use.busy, 2) << use.kind;
    if (use.kind.starts_with("network")) {
      EXPECT_DOUBLE_EQ(use.bytes, 2'000'000) << use.kind;
    }
  }
  EXPECT_EQ(run->resources.size(), 4u);
}

TEST(SimulatorTest, WhatIsTooLongToUnfoldTakesItsCost) {
  Scenario scenario = oneMessage(Scheme::recursiveDoubling, 1000, 6);
  scenario.messages[0].cost = std::make_shared<problem::AffineCost>(7, 0);
  EXPECT_NE(endOf(scenario), 7);
  scenario.maxTasks = 10;
  Result<Simulation> run = runScenario(scenario);
  EXPECT_TRUE(run->isWhole[0]);
  EXPECT_DOUBLE_EQ(run->stepEnd(0), 7);
}

// Servers' messages are cut into pieces: 2e15 B are two billion of them.
TEST(SimulatorTest, WhatIsTooLongForOneRankInPlaceOfAllTakesItsCostToo) {
  Scenario scenario = oneMessage(Scheme::parameterServer, 2'000'000'000'000'000, 4);
  scenario.machines.servers = 1;
  scenario.machines.dedicated = true;
  scenario.machines.serverLink = slowLink;
  EXPECT_EQ(runScenario(scenario).status().message(),
            "scenario: message 'm' is too long to simulate round by round and has no cost");
  scenario.messages[0].cost = std::make_shared<problem::AffineCost>(7, 0);
  Result<Simulation> run = runScenario(scenario);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->isFolded);
  EXPECT_TRUE(run->isWhole[0]);
  EXPECT_DOUBLE_EQ(run->stepEnd(0), 7);
}

// One rank is simulated in place of all. All of them would take minutes.
TEST(SimulatorTest, SixteenThousandRanksTakeSeconds) {
  for (double interference : {1.0, 1.35}) {
    Scenario scenario = twoMessages();
    scenario.machines.ranks = 16384;
    scenario.machines.interference = interference;
    scenario.messages[0].scheme = scenario.messages[1].scheme = Scheme::ring;
    const auto begin = std::chrono::steady_clock::now();
    const Result<Simulation> run = runScenario(scenario);
    ASSERT_TRUE(run);
    EXPECT_TRUE(run->isFolded);
    EXPECT_GT(run->stepEnd(0), 5);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  }
}

TEST(SimulatorTest, RefusesWhatMakesNoSense) {
  auto message = [](const Scenario &scenario) { return runScenario(scenario).status().message(); };
  Scenario scenario = twoMessages();
  scenario.operations.pop_back();
  scenario.operations.pop_back();
  EXPECT_EQ(message(scenario), "scenario: message 1 is not issued and waited for");
  scenario = twoMessages();
  scenario.machines.network.reset();
  EXPECT_EQ(message(scenario), "message 'm0' by ring: the cluster has no network, nor does it "
                               "state that cost");
  scenario = twoMessages();
  scenario.jitter = 1;
  EXPECT_NE(message(scenario).find("jitter"), std::string::npos);
  scenario = twoMessages();
  scenario.machines.slowdown = {1};
  EXPECT_EQ(message(scenario), "scenario: expected a slowdown for each of 2 ranks, got 1");
  scenario = twoMessages();
  for (int steps : {2'000'000'000, 20'000'000}) { // of the second, operations alone could be kept
    scenario.steps = steps;
    EXPECT_NE(message(scenario).find("expected fewer steps or ranks"), std::string::npos);
  }
  scenario = oneMessage(Scheme::hierarchical, 8, 4);
  EXPECT_NE(message(scenario).find("expected nodes of several devices"), std::string::npos);
  EXPECT_EQ(message(oneMessage(Scheme::library, 8, 4)),
            "message 'm' by library: the cluster does not state what NCCL's choice costs");
}
