// The judge of orders: every numbered reason to reject, on a good solution spoilt in one place.
#include "passes/proof/OrderChecker.h"

#include "tests/unit/proof/SmallOrder.h"

#include <gtest/gtest.h>

#include <functional>

namespace syncline::proof {

using namespace problem;
namespace {

OrderMessage message(std::int64_t begin, std::int64_t end, double start) {
  OrderMessage message;
  message.begin = begin;
  message.end = end;
  message.start = start;
  message.finish = start + 1 + static_cast<double>(end - begin) / 64;
  return message;
}

/// Half of the first layer from 1 s to 4 s, the last layer to 6 s, the rest to 11 s. The layout is
/// the last layer, the second, the first.
OrderSolution goodSolution() {
  OrderSolution solution;
  solution.choices.assign(3, {});
  solution.messages = {message(192, 320, 1), message(0, 64, 4), message(64, 192, 6),
                       message(320, 448, 9)};
  solution.period = 13;
  return solution;
}

using Spoil = std::function<void(OrderProblem &, OrderSolution &)>;

void expectRejected(OrderRejectionKind kind, const std::string &message, const Spoil &spoil) {
  OrderProblem problem = smallProblem();
  OrderSolution solution = goodSolution();
  spoil(problem, solution);
  const auto rejection = checkOrder(problem, solution);
  ASSERT_TRUE(rejection) << "accepted: " << message;
  EXPECT_EQ(rejection->kind, kind) << rejection->message;
  EXPECT_EQ(rejection->message, message);
}

TEST(CheckOrder, AcceptsAGoodSolution) {
  const auto rejection = checkOrder(smallProblem(), goodSolution());
  EXPECT_FALSE(rejection) << rejection->message;
}

/// Factors of 2 s arrive at 6 s; their gradient is reconstructed for 1 s before its reader.
TEST(CheckOrder, AcceptsFactors) {
  OrderSolution solution;
  solution.choices = {{Choice::Kind::factors, 0}, {}, {}};
  OrderMessage factors;
  factors.isFactors = true;
  factors.start = 6;
  factors.finish = 8;
  solution.messages = {message(0, 64, 4), factors, message(64, 192, 8)};
  solution.period = 11 + 1 + 2;
  const auto rejection = checkOrder(smallProblem(), solution);
  EXPECT_FALSE(rejection) << rejection->message;
}

TEST(CheckOrder, RejectsEachWrongSolution) {
  using Kind = OrderRejectionKind;
  expectRejected(Kind::wayNotAllowed, "O1: layer 2: has no factor option 1",
                 [](auto &, auto &solution) { solution.choices[1] = {Choice::Kind::factors, 0}; });
  expectRejected(Kind::wayNotAllowed,
                 "O1: layer 2: expected a bucket that is sent, got one that stays open",
                 [](auto &, auto &solution) { solution.choices[1] = {Choice::Kind::join, 0}; });
  expectRejected(Kind::wayNotAllowed, "O1: layer 3: has no carrier", [](auto &, auto &solution) {
    solution.choices[2] = {Choice::Kind::piggyback, 0};
  });
  expectRejected(Kind::carrierNotFactors,
                 "O2: layer 2: its carrier, layer 1, does not travel by factors",
                 [](auto &problem, auto &solution) {
                   problem.sync.layers[1].carrier = 0;
                   solution.choices[1] = {Choice::Kind::piggyback, 0};
                 });
  expectRejected(Kind::messageNotThere,
                 "O3: message 4: bytes 320 to 449 of merge class 1 by scheme 1 do not exist",
                 [](auto &, auto &solution) { solution.messages[3].end = 449; });
  expectRejected(Kind::messageTooLarge, "O4: message 1: expected at most 127 B, got 128 B",
                 [](auto &problem, auto &) { problem.sync.mergeClasses[0].largestMessage = 127; });
  expectRejected(Kind::classTooLarge, "O5: merge class 1: expected at most 447 B, got 448 B",
                 [](auto &problem, auto &) { problem.sync.mergeClasses[0].capacity = 447; });
  expectRejected(Kind::cutOffGrain, "O6: message 1: cuts layer 1 at byte 128, not a multiple of 96",
                 [](auto &problem, auto &) { problem.grain = 96; });
  expectRejected(Kind::cutOffGrain,
                 "O6: message 1: cuts layer 1 at byte 128, but gradients stay "
                 "whole",
                 [](auto &problem, auto &) { problem.cutsGradients = false; });
  expectRejected(Kind::sentTwice, "O7: merge class 1: byte 256 travels twice",
                 [](auto &, auto &solution) { solution.messages[3] = message(256, 448, 9); });
  expectRejected(Kind::notSent,
                 "O8: merge class 1: byte 320, which belongs to layer 1, does not travel",
                 [](auto &, auto &solution) { solution.messages.pop_back(); });
  expectRejected(Kind::startsBeforeReady,
                 "O9: message 1: starts at 0.5 s, before layer 1 is ready at 1 s",
                 [](auto &, auto &solution) { solution.messages[0] = message(192, 320, 0.5); });
  expectRejected(Kind::channelBusy,
                 "O10: message 3: starts at 5.5 s, before the channel is free at 6 s",
                 [](auto &, auto &solution) { solution.messages[2] = message(64, 192, 5.5); });
  expectRejected(Kind::wrongDuration, "O11: message 2: expected 2 s, got from 4 s to 5 s",
                 [](auto &, auto &solution) { solution.messages[1].finish = 5; });
  expectRejected(Kind::wrongPeriod, "O12: expected a period of 13 s, got 12 s",
                 [](auto &, auto &solution) { solution.period = 12; });
}

/// What has arrived of a gradient is updated while the rest is awaited.
TEST(CheckOrder, UpdatesPartsAsTheyArrive) {
  OrderProblem problem = smallProblem();
  problem.update = {0.5, 0.5, 0.5};
  ASSERT_TRUE(validate(problem).isOk()) << validate(problem).message();
  OrderSolution solution = goodSolution();
  // The second half of the first layer arrives at 12 s; its update takes 0.25 s, and 1 s follows.
  solution.period = 13.25;
  EXPECT_EQ(checkOrder(problem, solution), std::nullopt);
  solution.period = 13.5;
  const auto rejection = checkOrder(problem, solution);
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->kind, OrderRejectionKind::wrongPeriod);
}

TEST(CheckOrder, UpdatesFitBetweenTails) {
  OrderProblem problem = smallProblem();
  problem.update = {0, 3.5, 0};
  EXPECT_EQ(validate(problem).message(),
            "layer 2 in backward order: expected an update from 0 s to the 3.000000 s before its "
            "tail, got 3.500000 s");
  problem.update = {0, 0};
  EXPECT_EQ(validate(problem).message(), "order problem: expected 3 updates, got 2");
}

/// Messages say which layers they carry, and what of these travels elsewhere.
TEST(CheckOrder, MessagesListWhatTheyCarry) {
  const OrderProblem problem = smallProblem();
  const Solution messages = messagesOf(problem, goodSolution());
  ASSERT_EQ(messages.messages.size(), 4u);
  EXPECT_EQ(messages.messages[0].layers, (std::vector<std::size_t>{0}));
  EXPECT_EQ(messages.messages[0].cutBefore, 0);
  EXPECT_EQ(messages.messages[0].cutBehind, 128);
  EXPECT_EQ(messages.messages[3].cutBefore, 128);
  EXPECT_EQ(checkMessages(problem, messages), std::nullopt);
  const auto rejects = [&](const std::function<void(Message &)> &spoil) {
    Solution spoilt = messages;
    spoil(spoilt.messages[0]);
    const auto rejection = checkMessages(problem, spoilt);
    return rejection ? std::optional(rejection->kind) : std::nullopt;
  };
  using Kind = OrderRejectionKind;
  EXPECT_EQ(rejects([](Message &message) { message.cutBehind = 0; }), Kind::wrongList);
  EXPECT_EQ(rejects([](Message &message) { message.layers = {0, 1}; }), Kind::wrongList);
  EXPECT_EQ(rejects([](Message &message) { message.layers = {7}; }), Kind::messageNotThere);
  EXPECT_EQ(rejects([](Message &message) { message.cutBefore = 64; }), Kind::notSent);
  EXPECT_EQ(rejects([](Message &message) { message.cutBefore = unlimited; }),
            Kind::messageNotThere);
  EXPECT_EQ(rejects([](Message &message) { message.bytes = unlimited; }), Kind::messageNotThere);
}

/// The good solution's layers by reduce-scatter: the first half of the first layer travels from 1 s
/// to 2.5 s, its all-gather behind the last layer's message.
OrderProblem shardedProblem() {
  OrderProblem problem = withoutFactors();
  problem.sync.mergeClasses[0].options[0].scheme = Scheme::reduceScatter;
  return problem;
}

OrderMessage half(Half which, std::int64_t begin, std::int64_t end, double start) {
  OrderMessage part = message(begin, end, start);
  part.half = which;
  part.finish = start + (part.finish - start) / 2;
  return part;
}

OrderSolution halvedSolution() {
  OrderSolution solution;
  solution.choices.assign(3, {});
  solution.messages = {half(Half::first, 192, 448, 1),   // from 1 s to 3.5 s
                       half(Half::first, 0, 192, 4),     // to 6 s
                       half(Half::second, 0, 192, 6),    // to 8 s
                       half(Half::second, 192, 448, 8)}; // to 10.5 s
  solution.period = 13;
  return solution;
}

/// What travels in halves has arrived with its second half: the last layer at 8 s, 5 s before the
/// step's end.
TEST(CheckOrder, AcceptsHalves) {
  OrderProblem problem = shardedProblem();
  for (Scheme scheme : {Scheme::ring, Scheme::halvingDoubling, Scheme::reduceScatter}) {
    problem.sync.mergeClasses[0].options[0].scheme = scheme;
    const auto rejection = checkOrder(problem, halvedSolution());
    EXPECT_FALSE(rejection) << rejection->message;
  }
  const Solution messages = messagesOf(problem, halvedSolution());
  ASSERT_EQ(messages.messages.size(), 2u);
  ASSERT_TRUE(messages.messages[0].gather);
  EXPECT_EQ(messages.messages[0].gather->place, 3u);
  EXPECT_EQ(messages.messages[1].gather->place, 2u);
  EXPECT_EQ(messages.messages[1].arrived(), 8);
  EXPECT_EQ(messages.communicationEnd, 10.5);
  EXPECT_EQ(checkMessages(problem, messages), std::nullopt);
}

TEST(CheckOrder, RejectsWrongHalves) {
  const auto rejects = [](const std::string &message, const Spoil &spoil) {
    OrderProblem problem = shardedProblem();
    OrderSolution solution = halvedSolution();
    spoil(problem, solution);
    const auto rejection = checkOrder(problem, solution);
    ASSERT_TRUE(rejection) << "accepted: " << message;
    EXPECT_EQ(rejection->message, message);
  };
  rejects("O14: message 1: travels in halves by 'tree', which has none", [](auto &problem, auto &) {
    problem.sync.mergeClasses[0].options[0].scheme = Scheme::tree;
  });
  rejects("O14: merge class 1: byte 192 is reduced, but never gathered",
          [](auto &, auto &solution) { solution.messages.pop_back(); });
  rejects("O14: message 2: gathers bytes 0 to 192 of merge class 1, which no message has reduced "
          "before",
          [](auto &, auto &solution) { solution.messages[1].half = Half::second; });
  rejects("O14: message 4: gathers bytes 192 to 320 of merge class 1, which no message has reduced "
          "before",
          [](auto &, auto &solution) { solution.messages[3] = half(Half::second, 192, 320, 8); });
  rejects("O9: message 2: starts at 3.5 s, before layer 3 is ready at 4 s",
          [](auto &, auto &solution) { solution.messages[1] = half(Half::first, 0, 192, 3.5); });
  rejects("O11: message 4: expected 2.5 s, got from 8 s to 13 s",
          [](auto &, auto &solution) { solution.messages[3].finish = 13; });
  rejects("O12: expected a period of 13 s, got 11.5 s",
          [](auto &, auto &solution) { solution.period = 11.5; });
}

/// Places that second halves claim twice, not at all, or before their first halves.
TEST(CheckOrder, RejectsWrongPlacesOfHalves) {
  const OrderProblem problem = shardedProblem();
  const Solution messages = messagesOf(problem, halvedSolution());
  for (std::size_t place : {std::size_t{0}, std::size_t{2}, std::size_t{4}, ~std::size_t{0}}) {
    Solution spoilt = messages;
    spoilt.messages[0].gather->place = place;
    EXPECT_TRUE(checkMessages(problem, spoilt)) << place;
  }
}

} // namespace
} // namespace syncline::proof
