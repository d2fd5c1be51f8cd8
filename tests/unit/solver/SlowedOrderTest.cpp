// Orders where messages slow computation, against exhaustive search and the judges.
#include "passes/problem/Interference.h"
#include "passes/proof/OrderChecker.h"
#include "passes/solver/ListSchedule.h"
#include "passes/solver/OrderBound.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/Planner.h"
#include "tests/reference/solver/OrderReference.h"
#include "tests/support/Depth.h"
#include "tests/unit/solver/Accepted.h"
#include "tests/unit/solver/RandomOrderProblem.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace syncline::solver {

using namespace problem;
using namespace proof;
namespace {

/// The problem by one scheme, with what its messages take from computation.
OrderProblem slowed(std::uint64_t seed, OrderProblem problem, Scheme scheme) {
  Random random(seed);
  for (MergeClass &mergeClass : problem.sync.mergeClasses) {
    if (hasHalves(scheme))
      mergeClass.options.resize(1); // exhaustive search halves by the fastest scheme alone
    for (SchemeOption &option : mergeClass.options)
      option.scheme = scheme;
  }
  addLosses(random, problem.sync);
  return problem;
}

OrderResult planned(const OrderProblem &problem) {
  const Result<OrderResult> result = planOrder(problem, **parsePlanner("optimal"));
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return *result;
}

class SlowedOrder : public testing::TestWithParam<Scheme> {};

/// 1,000 small networks of every kind: nothing beats the best of all cuts, merges, orders, schemes
/// and ways, no bound exceeds it, and what is called optimal is as good.
TEST_P(SlowedOrder, AgreesWithExhaustiveSearch) {
  int optimal = 0, reached = 0, longer = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const OrderProblem problem =
        slowed(seed, smallOrderProblem(seed, hasHalves(GetParam()) ? 6 : 8), GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_TRUE(validate(problem).isOk()) << validate(problem).message();
    const OrderResult result = planned(problem);
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
    const double best = reference::shortestPeriod(problem);
    ASSERT_GE(result.solution.period, best * (1 - 1e-11));
    ASSERT_LE(result.certificate.bound, best * (1 + 1e-11));
    if (result.isOptimal()) {
      ASSERT_NEAR(result.solution.period, best, 2e-11 * best);
    }
    optimal += result.isOptimal();
    reached += result.solution.period <= best * (1 + 1e-9);
    longer += best > reference::shortestPeriod({.sync = withoutLosses(problem.sync),
                                                .tail = problem.tail,
                                                .update = problem.update,
                                                .forward = problem.forward,
                                                .grain = problem.grain}) *
                         (1 + 1e-6);
  }
  RecordProperty("optimal", optimal);
  RecordProperty("reached", reached);
  EXPECT_GE(optimal, 200) << "of 1,000 are proved, so that the comparison says something";
  EXPECT_GE(reached, 500) << "of 1,000 have the best period, proved or not";
  EXPECT_GE(longer, 400) << "of 1,000 have longer periods than without losses";
}

INSTANTIATE_TEST_SUITE_P(Schemes, SlowedOrder, testing::Values(Scheme::tree, Scheme::ring),
                         [](const auto &info) {
                           return hasHalves(info.param) ? "halves" : "whole";
                         });

OrderProblem largerProblem(std::uint64_t seed) {
  Random random(seed);
  return randomOrderProblem(random, randomSmallProblem(seed, 12, 1 << 30), seed % 3 == 0);
}

/// The order that the planner gives where it forgets losses never has a shorter period, on 2,000
/// problems, 200 in a short run.
TEST(SlowedOrders, NeverWorseThanTheOrderThatForgetsThem) {
  const auto seeds = static_cast<std::uint64_t>(test::repeat(200, 2000));
  std::uint64_t shorter = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const OrderProblem free = largerProblem(seed);
    OrderProblem problem = free;
    Random random(seed);
    addLosses(random, problem.sync);
    SCOPED_TRACE("seed " + std::to_string(seed));
    OrderSolution forgets = planned(free).solution;
    setTimes(Schedules(problem, forgets.choices), forgets);
    const OrderResult counts = planned(problem);
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, counts));
    ASSERT_LE(counts.solution.period, forgets.period * (1 + 1e-11));
    shorter += counts.solution.period < forgets.period * (1 - 1e-6);
  }
  EXPECT_GT(shorter, seeds / 10);
}

/// Losses of zero seconds make no period longer.
TEST(SlowedOrders, LosingNothingChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const OrderProblem free = largerProblem(seed);
    OrderProblem problem = free;
    for (MergeClass &mergeClass : problem.sync.mergeClasses)
      for (SchemeOption &option : mergeClass.options)
        option.lost = std::make_shared<AffineCost>(0, 0);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderResult plain = planned(free), zero = planned(problem);
    ASSERT_LE(zero.solution.period, plain.solution.period * (1 + 1e-11));
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, zero));
    EXPECT_EQ(checkOrder(free, zero.solution), std::nullopt);
  }
}

/// Layers of 3 s and 1 s on the link, half of which computation loses, exist after 2 s and 4 s of a
/// backward pass of 4 s. The first one is read 1 s before the end of a forward pass of 5 s, the
/// second one as it begins.
OrderProblem twoLayers() {
  OrderProblem problem;
  problem.sync.mergeClasses = {{{{.scheme = Scheme::tree,
                                  .cost = std::make_shared<AffineCost>(0, 1),
                                  .lost = std::make_shared<AffineCost>(0, 0.5)}}}};
  problem.sync.layers = {{3, 2, 1, {}, {}}, {1, 4, 1, {}, {}}};
  problem.sync.computeFree = 4;
  problem.tail = {1, 5};
  problem.forward = 5;
  problem.grain = 1;
  return problem;
}

/// The first layer starts after 2 s. After 5 s it is over, when 3.5 s are computed; the backward
/// pass ends at 5.5 s. The second one takes until 6.5 s, and the forward pass 5 s from there on.
TEST(SlowedOrders, HasItsCalculatedPeriod) {
  const OrderProblem problem = twoLayers();
  const OrderResult result = planned(problem);
  EXPECT_DOUBLE_EQ(result.solution.period, 11.5);
  EXPECT_TRUE(result.isOptimal()) << result.certificate.bound;
  const Solution plan = messagesOf(problem, result.solution);
  EXPECT_DOUBLE_EQ(plan.finish, 11.5);
  EXPECT_DOUBLE_EQ(plan.communicationEnd, 6.5);
  EXPECT_DOUBLE_EQ(plan.computeEnd, 5.5);
  EXPECT_DOUBLE_EQ(plan.messages.front().start, 2);
  EXPECT_DOUBLE_EQ(plan.messages.front().end, 5);
  EXPECT_DOUBLE_EQ(plan.messages.back().ready, 5.5);
  EXPECT_EQ(checkMessages(problem, plan), std::nullopt);
}

/// The judge refuses an order that forgets losses, and a bound or line that counts too much.
TEST(SlowedOrders, JudgeRefusesWhatForgetsLosses) {
  const OrderProblem problem = twoLayers();
  OrderProblem free = problem;
  free.sync = withoutLosses(problem.sync);
  const OrderResult result = planned(problem);
  const auto forgets = checkOrder(problem, planned(free).solution);
  ASSERT_TRUE(forgets);
  EXPECT_EQ(forgets->message.substr(0, 3), "O11") << forgets->message;
  OrderSolution shorter = result.solution;
  shorter.period -= 2; // what messages take
  const auto wrong = checkOrder(problem, shorter);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->message, "O12: expected a period of 11.5 s, got 9.5 s");
  OrderCertificate high = result.certificate;
  high.bound += 1e-6;
  EXPECT_TRUE(checkOrderBound(problem, high, 20));
  OrderCertificate steep = result.certificate;
  steep.lines[0].secondsPerByte *= 1.01;
  const auto above = checkOrderBound(problem, steep, 20);
  ASSERT_TRUE(above);
  EXPECT_EQ(above->message.substr(0, 3), "O20") << above->message;
}

/// Where all messages hide, the bound is computation and what they take from it at least.
TEST(SlowedOrders, CountsWhatHides) {
  OrderProblem problem = twoLayers();
  problem.sync.layers = {{3, 1, 1, {}, {}}, {1, 2, 1, {}, {}}};
  problem.sync.computeFree = 100;
  EXPECT_DOUBLE_EQ(LeastLost(problem).period(), 107);
  const OrderResult result = planned(problem);
  EXPECT_DOUBLE_EQ(result.certificate.bound, 107);
  EXPECT_DOUBLE_EQ(result.solution.period, 107);
  OrderCertificate high = result.certificate;
  high.bound += 1e-6;
  EXPECT_TRUE(checkOrderBound(problem, high, 200));
}

/// A slower scheme that takes nothing from computation is better where all messages hide.
TEST(SlowedOrders, TakesTheSlowerSchemeThatSlowsLess) {
  OrderProblem problem = twoLayers();
  problem.sync.layers = {{3, 1, 1, {}, {}}, {1, 2, 1, {}, {}}};
  problem.sync.computeFree = 100;
  problem.sync.mergeClasses[0].options.push_back(
      {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(0, 2)});
  EXPECT_DOUBLE_EQ(planned(problem).solution.period, 105);
}

} // namespace
} // namespace syncline::solver
