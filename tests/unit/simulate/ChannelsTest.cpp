// Several channels: messages that travel at the same time, against reckonings by hand.
#include "tests/unit/simulate/Scenes.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::simulate;
using Kind = Operation::Kind;

namespace {

/// One message every `apart` seconds, taking turns on `channels`; then a rank waits for all.
Scenario messagesApart(double apart, int count, int channels, const Message &message) {
  Scenario scenario;
  for (int i = 0; i < count; ++i) {
    if (i > 0)
      scenario.operations.push_back({.phase = Phase::backward, .layer = "b", .seconds = apart});
    scenario.operations.push_back({.kind = Kind::issue, .phase = Phase::backward, .message = i});
    scenario.messages.push_back(message);
    scenario.messages.back().channel = i % channels;
  }
  for (int i = 0; i < count; ++i)
    scenario.operations.push_back({.kind = Kind::wait, .phase = Phase::update, .message = i});
  return scenario;
}

/// Hierarchical messages on two nodes of two devices. Alone a message takes 1 s inside the node,
/// 2 s between nodes and 1 s inside again. Between nodes both devices share a card, so that each
/// needs half of its own link only.
Scenario hierarchies(int count, int channels) {
  Scenario scenario = messagesApart(
      1, count, channels, {.name = "m", .scheme = Scheme::hierarchical, .bytes = 2'000'000});
  scenario.machines = {.ranks = 4,
                       .devicesPerNode = 2,
                       .network = problem::LinkRates{0, 1e-6, 0},
                       .inside = problem::LinkRates{0, 1e-6, 0}};
  return scenario;
}

/// Messages that take a stated time; the first one is issued at 0 s, the second one at 1 s.
Scenario stated(double first, double second, double messageInterference) {
  Scenario scenario = messagesApart(1, 2, 2, {.name = "m", .bytes = 1, .isStated = true});
  scenario.messages[0].cost = std::make_shared<problem::AffineCost>(first, 0);
  scenario.messages[1].cost = std::make_shared<problem::AffineCost>(second, 0);
  scenario.machines = {.ranks = 2, .messageInterference = messageInterference};
  return scenario;
}

double endOfMessage(const Scenario &scenario, std::size_t message) {
  Result<Simulation> run = runScenario(scenario);
  return run ? run->message(0, 0, message).end : -1;
}

} // namespace

// The second message is inside the node from 1 to 3 s, while the first one is between nodes and
// leaves it half of the devices' links. From 3 to 5 s they change places, and then the second one
// has 1 s left.
TEST(ChannelsTest, StagesOfNeighboursOverlap) {
  EXPECT_DOUBLE_EQ(endOf(hierarchies(2, 1)), 8);
  EXPECT_DOUBLE_EQ(endOfMessage(hierarchies(2, 2), 0), 5);
  EXPECT_DOUBLE_EQ(endOf(hierarchies(2, 2)), 6);
  Scenario everyRank = hierarchies(2, 2);
  everyRank.jitter = 1e-15;
  EXPECT_NEAR(endOf(everyRank), 6, 1e-9);
}

// The third message waits for the first one's channel until 5 s. Its first stage and the second
// one's last stage share the links inside until 7 s; then it has 3 s left.
TEST(ChannelsTest, StagesShareALink) {
  EXPECT_DOUBLE_EQ(endOf(hierarchies(3, 1)), 12);
  EXPECT_DOUBLE_EQ(endOfMessage(hierarchies(3, 2), 1), 7);
  EXPECT_DOUBLE_EQ(endOf(hierarchies(3, 2)), 10);
}

// Two messages that begin at the same time share every link on their way: nothing is gained.
TEST(ChannelsTest, MessagesInStepGainNothing) {
  Scenario scenario = hierarchies(2, 2);
  scenario.operations[1].seconds = 0;
  EXPECT_DOUBLE_EQ(endOf(scenario), 8);
}

// Servers send sums of one message while they receive the next: two directions of a link.
TEST(ChannelsTest, PushAndPullOverlap) {
  for (int channels : {1, 2}) {
    Scenario scenario = messagesApart(
        2, 2, channels, {.name = "m", .scheme = Scheme::parameterServer, .bytes = 1'000'000});
    scenario.machines = {.ranks = 2,
                         .network = problem::LinkRates{0, 1e-6, 0},
                         .servers = 1,
                         .dedicated = true,
                         .serverLink = problem::LinkRates{0, 1e-6, 0},
                         .serverPiece = 1'000'000};
    // Two workers push for 2 s and pull for 2 s. The second message is issued at 2 s.
    EXPECT_DOUBLE_EQ(endOf(scenario), channels == 1 ? 8 : 6);
  }
}

TEST(ChannelsTest, StatedMessagesSlowEachOther) {
  // From 1 s on each goes on at 1/1.5 of its speed: both have 1 s left.
  EXPECT_DOUBLE_EQ(endOfMessage(stated(2, 1, 1.5), 0), 2.5);
  EXPECT_DOUBLE_EQ(endOfMessage(stated(2, 1, 1.5), 1), 2.5);
  // The first one goes on alone from 2.5 s, with 1 s left.
  EXPECT_DOUBLE_EQ(endOfMessage(stated(3, 1, 1.5), 1), 2.5);
  EXPECT_DOUBLE_EQ(endOfMessage(stated(3, 1, 1.5), 0), 3.5);
  // Undisturbed, and without a gain.
  EXPECT_DOUBLE_EQ(endOfMessage(stated(3, 1, 1), 1), 2);
  EXPECT_DOUBLE_EQ(endOf(stated(3, 1, 1)), 3);
  EXPECT_DOUBLE_EQ(endOf(stated(3, 1, 2)), 4);
}

// Three at once: each goes on at 1/2 of its speed with a factor of 1.5, at 1/3 with 2.
TEST(ChannelsTest, ThreeStatedMessages) {
  for (auto [factor, end] : {std::pair(1.5, 2.0), std::pair(2.0, 3.0)}) {
    Scenario scenario = messagesApart(0, 3, 3, {.name = "m", .bytes = 1, .isStated = true});
    for (Message &message : scenario.messages)
      message.cost = std::make_shared<problem::AffineCost>(1, 0);
    scenario.machines = {.ranks = 2, .messageInterference = factor};
    EXPECT_DOUBLE_EQ(endOf(scenario), end);
  }
}

// Beside a message of stated cost links are slower, and it beside messages that share them.
TEST(ChannelsTest, StatedMessagesSlowLinks) {
  Scenario scenario = stated(3, 1, 1.5);
  // A ring over 2 ranks: 1 s alone.
  scenario.messages[1] = {.name = "ring", .bytes = 1'000'000, .channel = 1};
  scenario.machines.network = problem::LinkRates{0, 1e-6, 0};
  EXPECT_DOUBLE_EQ(endOfMessage(scenario, 1), 2.5);
  EXPECT_DOUBLE_EQ(endOfMessage(scenario, 0), 3.5);
  // One rank issues the ring at 2 s. It is under way from 1 s, when the other one does, to 3.5 s.
  EXPECT_NEAR(endOf(unfolded(scenario)), 3.5 + 1. / 3, 1e-12);
}

TEST(ChannelsTest, RefusesAFactorBelowOne) {
  Scenario scenario = stated(1, 1, 0.5);
  EXPECT_EQ(runScenario(scenario).status().message(),
            "scenario: expected an interference of at least 1, got 0.500000");
}
