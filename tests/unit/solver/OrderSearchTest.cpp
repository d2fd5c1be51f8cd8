// The searches for an order: factors before or behind what they hold up, and random changes.
#include "passes/proof/OrderChecker.h"
#include "passes/solver/OrderBound.h"
#include "passes/solver/OrderMoves.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/OrderTurns.h"
#include "passes/solver/Planner.h"
#include "tests/reference/solver/OrderReference.h"
#include "tests/support/ProblemBuilder.h"
#include "tests/support/TraceOrder.h"
#include "tests/unit/solver/RandomOrderProblem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace syncline::solver {

using namespace problem;
using namespace proof;
using test::problemOfAllSchemes;
using test::TraceLayer;
namespace {

OrderResult planned(const OrderProblem &problem) {
  return planOrder(problem, (*parsePlanner("optimal"))->plan(problem.sync)->plan);
}

/// samples/traces/vgg11.csv
std::vector<TraceLayer> vgg11() {
  return {{7168, 1.83e-3, 3.66e-3},
          {295424, 17.9e-3, 35.9e-3},
          {1180672, 17.9e-3, 35.9e-3},
          {2360320, 35.9e-3, 71.7e-3},
          {4720640, 17.9e-3, 35.9e-3},
          {9439232, 35.9e-3, 71.7e-3},
          {9439232, 8.97e-3, 17.9e-3},
          {9439232, 8.97e-3, 17.9e-3},
          {411058176, 1.99e-3, 3.99e-3, 25088, 4096, 32},
          {67125248, 0.325e-3, 0.651e-3, 4096, 4096, 32},
          {16388000, 0.0794e-3, 0.159e-3, 4096, 1000, 32}};
}

/// The largest layer's factors take the channel for 180 ms or more, which no other message can
/// interrupt. List scheduling sends them last, 5 to 10 % too late. They should go first, while few
/// gradients exist.
TEST(OrderSearch, SendsLongFactorsInTime) {
  for (const auto &[ranks, gigabits] : {std::pair{16, 2.5}, {32, 3.5}}) {
    const OrderProblem problem = problemOfAllSchemes(vgg11(), ranks, gigabits);
    const OrderResult result = planned(problem);
    EXPECT_EQ(checkOrder(problem, result.solution), std::nullopt);
    EXPECT_EQ(checkOrderBound(problem, result.certificate, result.solution.period), std::nullopt);
    EXPECT_LE(result.gap(), 0.01) << ranks << " ranks";
  }
}

bool tellsApartOrders(const OrderCertificate &certificate) {
  return certificate.other || std::ranges::any_of(certificate.cases, tellsApartOrders);
}

/// Small networks in which layers must travel by factors: no bound that tells apart when they do
/// exceeds the best of all orders, and it is often more than one sum proves.
TEST(OrderSearch, ProvesOrders) {
  int told = 0, raised = 0, optimal = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    OrderProblem problem = smallOrderProblem(seed, 8);
    Random random(seed);
    for (Layer &layer : problem.sync.layers) {
      layer.carrier.reset();
      if (layer.mergeClasses == 0 || (layer.bytes > 0 && random.below(2) == 0)) {
        layer.mergeClasses = 0;
        layer.factorOptions = {{.seconds = random.between(0, problem.compute())}};
      }
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    const double best = reference::shortestPeriod(problem);
    if (std::isinf(best))
      continue; // a layer that could only ride with another one's factors
    const Result<PlanResult> inReadyOrder = (*parsePlanner("optimal"))->plan(problem.sync);
    ASSERT_TRUE(inReadyOrder.isOk()) << inReadyOrder.status().message();
    const OrderResult result = planOrder(problem, inReadyOrder->plan);
    const auto rejection = checkOrderBound(problem, result.certificate, result.solution.period);
    ASSERT_FALSE(rejection) << rejection->message;
    ASSERT_LE(result.certificate.bound, best * (1 + 1e-11));
    ASSERT_GE(result.solution.period, best * (1 - 1e-11));
    told += tellsApartOrders(result.certificate);
    raised += result.certificate.bound > orderBound(problem).bound * (1 + 1e-9);
    optimal += result.isOptimal();
  }
  RecordProperty("told", told);
  RecordProperty("raised", raised);
  RecordProperty("optimal", optimal);
  EXPECT_GE(told, 100);
  EXPECT_GE(raised, 100);
}

/// Layers of 1 s, 6 s by factors and 1 s on the link, which exist after 0 s, 1 s and 3 s and are
/// read 0 s, 1 s and 5 s before the end.
OrderProblem withFactors() {
  OrderProblem problem;
  problem.sync.mergeClasses = {{{{Scheme::tree, std::make_shared<AffineCost>(0, 1.0)}}}};
  problem.sync.layers = {{1, 0, 1, {}, {}}, {9, 1, 0, {{.seconds = 6}}, {}}, {1, 3, 1, {}, {}}};
  problem.sync.computeFree = 3;
  problem.tail = {0, 1, 5};
  problem.forward = 5;
  problem.grain = 1;
  return problem;
}

/// Tails put the factors second, from 1 s to 7 s, and the third layer arrives at 8 s. If they
/// travel behind it, they end at 10 s.
TEST(OrderSearch, TakesTurns) {
  const OrderProblem problem = withFactors();
  const std::vector<Choice> choices = {{}, {Choice::Kind::factors, 0}, {}};
  const Schedules schedules(problem, choices);
  const std::int64_t chunks[] = {10};
  EXPECT_DOUBLE_EQ(searchTurns(schedules, chunks, 1, 0).solution.period, 13);
  const TurnsResult result = searchTurns(schedules, chunks, 8, 0);
  EXPECT_DOUBLE_EQ(result.solution.period, 11);
  EXPECT_EQ(checkOrder(problem, result.solution), std::nullopt);
  EXPECT_GT(result.schedules, 1u);
  EXPECT_EQ(searchTurns(schedules, chunks, 8, 13).schedules, 1u) << "13 s are enough";
}

/// A layer's factors have a turn of their own, sooner or later.
TEST(OrderSearch, SchedulesByTurns) {
  const OrderProblem problem = withFactors();
  const std::vector<Choice> choices = {{}, {Choice::Kind::factors, 0}, {}};
  const Schedules schedules(problem, choices);
  const Turn later[] = {{.layer = 1, .tail = 1, .notBefore = 20}};
  const OrderSolution last = listSchedule(schedules, {.chunk = 10}, later);
  ASSERT_EQ(last.messages.size(), 3u);
  EXPECT_TRUE(last.messages[2].isFactors);
  EXPECT_DOUBLE_EQ(last.messages[2].start, 20);
  std::optional<Schedules::Wait> wait;
  EXPECT_DOUBLE_EQ(schedules.period(last, &wait), 27);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->layer, 1u);
  EXPECT_DOUBLE_EQ(wait->since, 26);
}

/// 200 networks of every kind: what the random search finds is valid, no dearer than its start, and
/// the same when it is searched again. It often finds something.
TEST(OrderSearch, SearchesAroundAnOrder) {
  int cheaper = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    OrderProblem problem =
        randomOrderProblem(random, randomSmallProblem(seed, 12, 1 << 30), seed % 3 == 0);
    problem.cutsGradients = seed % 4 != 0;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderSolution start =
        orderOf(problem, (*parsePlanner("optimal"))->plan(problem.sync)->plan);
    const Schedules schedules(problem, start.choices);
    const SearchEffort effort{500, seed, seed % 2 == 0};
    const OrderSolution found = searchAround(schedules, start, effort);
    const auto rejection = checkOrder(problem, found);
    ASSERT_FALSE(rejection) << rejection->message;
    ASSERT_LE(priceOf(found), priceOf(start));
    ASSERT_EQ(searchAround(schedules, start, effort).period, found.period);
    cheaper += priceOf(found) < priceOf(start);
  }
  EXPECT_GE(cheaper, 50);
}

} // namespace
} // namespace syncline::solver
