// Messages in halves: DeAR's rule against its calculation, the planner's use of them, and the
// judge on random orders.
#include "passes/proof/OrderChecker.h"
#include "passes/solver/ListSchedule.h"
#include "passes/solver/OrderBound.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/OrderRivals.h"
#include "tests/support/DearPeriod.h"
#include "tests/support/ProblemBuilder.h"
#include "tests/unit/solver/RandomOrderProblem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace syncline::solver {

using namespace problem;
using namespace proof;
namespace {

constexpr std::array halvable{Scheme::reduceScatter, Scheme::ring, Scheme::halvingDoubling};

/// A network of up to 30 layers with bytes, all by one scheme that has halves.
OrderProblem halvableProblem(std::uint64_t seed) {
  Random random(seed);
  const LayerKind layers = allLayerKinds[random.below(7)];
  const std::size_t count = 1 + static_cast<std::size_t>(random.below(30));
  OrderProblem problem = randomOrderProblem(
      random, problemOf(randomProblem(random, allCostKinds[seed % 8], layers, count)),
      random.below(3) == 0);
  for (Layer &layer : problem.sync.layers)
    layer.bytes = std::max<std::int64_t>(layer.bytes, 1);
  problem.sync.mergeClasses[0].options.resize(1);
  problem.sync.mergeClasses[0].options[0].scheme = halvable[seed % halvable.size()];
  return problem;
}

Solution inReadyOrder(const OrderProblem &problem) {
  return (*parsePlanner("optimal"))->plan(problem.sync)->plan;
}

std::size_t halvesOf(const OrderSolution &solution) {
  return static_cast<std::size_t>(
      std::ranges::count(solution.messages, Half::second, &OrderMessage::half));
}

/// Written as messages and read again, an order has the same messages.
void expectSameAsMessages(const OrderProblem &problem, const OrderSolution &solution) {
  const OrderSolution same = orderFrom(problem, messagesOf(problem, solution));
  ASSERT_EQ(same.messages.size(), solution.messages.size());
  for (std::size_t p = 0; p < same.messages.size(); ++p) {
    EXPECT_EQ(same.messages[p].half, solution.messages[p].half);
    EXPECT_EQ(same.messages[p].begin, solution.messages[p].begin);
    EXPECT_EQ(same.messages[p].start, solution.messages[p].start);
  }
}

/// 1,000 random networks: the order is one that the judge accepts, and has the period that DeAR's
/// calculation gives, which knows nothing of orders.
TEST(Halves, DearHasItsCalculatedPeriod) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const OrderProblem problem = halvableProblem(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Result<OrderSolution> order = dearOrder(problem, 1 << 14);
    ASSERT_TRUE(order.isOk()) << order.status().message();
    const auto rejection = checkOrder(problem, *order);
    ASSERT_FALSE(rejection) << rejection->message;
    expectSameAsMessages(problem, *order);
    EXPECT_EQ(2 * halvesOf(*order), order->messages.size());
    const double period = dearPeriod(problem, 1 << 14);
    ASSERT_NEAR(order->period, period, 1e-9 * period);
  }
}

TEST(Halves, DearNeedsASchemeWithHalves) {
  OrderProblem problem = halvableProblem(1);
  for (SchemeOption &option : problem.sync.mergeClasses[0].options)
    option.scheme = Scheme::tree;
  EXPECT_EQ(dearOrder(problem, 1).status().message(),
            "sends reduce-scatters and all-gathers: expected gradients that travel by ring, "
            "halving-doubling or reduce-scatter, as with --scheme '*=ring'");
}

/// A bucket takes the fastest scheme that has halves, for its bytes: the ring where latency counts
/// less than bytes, though the tree is faster for both.
TEST(Halves, TakeTheFastestSchemeThatHasThem) {
  OrderProblem problem;
  const auto line = [](double a, double b) { return std::make_shared<AffineCost>(a, b); };
  problem.sync.mergeClasses = {{{{Scheme::tree, line(0.5, 0.5)},
                                 {Scheme::ring, line(4, 1)},
                                 {Scheme::halvingDoubling, line(2, 2)}}}};
  problem.sync.layers = {{1, 1, 1, {}, {}}, {10, 2, 1, {}, {}}};
  problem.sync.computeFree = 2;
  problem.tail = {0, 1};
  problem.forward = 1;
  ASSERT_TRUE(validate(problem).isOk()) << validate(problem).message();
  const Result<OrderSolution> order = dearOrder(problem, 1);
  ASSERT_TRUE(order.isOk()) << order.status().message();
  const auto rejection = checkOrder(problem, *order);
  EXPECT_FALSE(rejection) << rejection->message;
  ASSERT_EQ(order->messages.size(), 4u);
  EXPECT_EQ(order->messages[0].option, 2u); // 4 s by halving-doubling, 5 s by the ring
  EXPECT_EQ(order->messages[1].option, 1u); // 14 s by the ring
  EXPECT_EQ(order->messages[2].bytes(), 10);
  EXPECT_EQ(order->messages[2].finish, 17); // from 1 s on: 2, 7 and 7 s
}

/// 300 random networks: the planner's orders are accepted, no longer than without halves but for
/// the price of a message, and often shorter.
TEST(Halves, ShortenOrders) {
  int halved = 0, shorter = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const OrderProblem problem = halvableProblem(seed);
    OrderProblem whole = problem;
    for (SchemeOption &option : whole.sync.mergeClasses[0].options)
      option.scheme = Scheme::tree;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Solution merged = inReadyOrder(problem);
    const OrderResult result = planOrder(problem, merged), without = planOrder(whole, merged);
    const auto rejection = checkOrder(problem, result.solution);
    ASSERT_FALSE(rejection) << rejection->message;
    const auto unproved = checkOrderBound(problem, result.certificate, result.solution.period);
    ASSERT_FALSE(unproved) << unproved->message;
    expectSameAsMessages(problem, result.solution);
    ASSERT_EQ(halvesOf(without.solution), 0u);
    ASSERT_LE(result.solution.period, without.solution.period * 1.02);
    halved += halvesOf(result.solution) > 0;
    shorter += result.solution.period < without.solution.period * (1 - 1e-3);
  }
  RecordProperty("halved", halved);
  RecordProperty("shorter", shorter);
  EXPECT_GE(halved, 12) << "of 300 orders have halves";
  EXPECT_GE(shorter, 12) << "of 300 orders are shorter by halves";
}

/// 300 random networks: no order is longer than DeAR's with any size of bucket.
TEST(Halves, NeverWorseThanDear) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const OrderProblem problem = halvableProblem(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderResult result = planOrder(problem, inReadyOrder(problem));
    const std::int64_t largest = problem.sync.mergeClasses[0].largestMessage;
    const bool fits = std::ranges::all_of(
        problem.sync.layers, [&](const Layer &layer) { return layer.bytes <= largest; });
    if (!fits)
      continue; // the planner leaves DeAR out
    for (std::int64_t size = 1 << 16; size <= 1 << 30; size *= 2) {
      const Result<OrderSolution> dear = dearOrder(problem, size);
      ASSERT_TRUE(dear.isOk());
      ASSERT_LE(result.solution.period, dear->period * (1 + 1.1e-5)) << size;
    }
  }
}

/// Whole layers in halves, in every order of first halves in ready order and all-gathers: none is
/// shorter than the bound, and the best is no shorter than what the judge says.
TEST(Halves, NoOrderBeatsTheBound) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    const OrderProblem problem = halvableProblem(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const double bound = orderBound(problem).bound;
    OrderSolution order;
    order.choices.assign(problem.tail.size(), Choice{});
    const ClassLayout layout(problem.sync, order.choices, 0);
    std::vector<OrderMessage> open;
    double free = 0, latest = problem.compute();
    const auto send = [&](OrderMessage message, double ready) {
      message.start = std::max(free, ready);
      free = message.finish = message.start + secondsOf(problem.sync, message);
      order.messages.push_back(message);
    };
    for (std::size_t i = layout.layers.size(); i > 0 || !open.empty();)
      if (i > 0 && (open.empty() || random.below(2) == 0)) {
        --i;
        open.push_back({.index = 0,
                        .option = problem.sync.mergeClasses[0].bestOption(layout.begin[i + 1] -
                                                                          layout.begin[i]),
                        .begin = layout.begin[i],
                        .end = layout.begin[i + 1],
                        .half = Half::first});
        send(open.back(), problem.sync.layers[layout.layers[i]].ready);
      } else {
        const auto which = random.below(static_cast<std::int64_t>(open.size()));
        OrderMessage second = open[static_cast<std::size_t>(which)];
        open.erase(open.begin() + which);
        second.half = Half::second;
        send(second, 0);
        const std::size_t k = layout.layers[layout.indexAt(second.begin)];
        latest = std::max(latest, free + problem.updateOf(k) + problem.tail[k]);
      }
    order.period = latest; // each reader waits for its own message
    const auto rejection = checkOrder(problem, order);
    ASSERT_FALSE(rejection) << rejection->message;
    ASSERT_GE(order.period, bound * (1 - 1e-11));
  }
}

} // namespace
} // namespace syncline::solver
