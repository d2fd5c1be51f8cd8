// When gradients of an order must arrive and what overtook them, against figures worked out by hand
// and against the next forward pass.
#include "passes/explain/OrderExplanation.h"

#include "passes/proof/OrderChecker.h"
#include "passes/solver/ListSchedule.h"
#include "tests/unit/explain/RandomOrders.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace syncline::explain {

using namespace problem;
namespace {

/// Three layers of 256, 128 and 64 B, in backward order, a ring of 1 s + 1/64 s/B, and factors for
/// the first layer. The backward pass takes 4 s, the next forward pass 6 s.
OrderProblem smallProblem() {
  OrderProblem problem;
  problem.sync.mergeClasses = {
      {.options = {{Scheme::ring, std::make_shared<AffineCost>(1, 1.0 / 64)}}}};
  problem.sync.layers = {{256, 1, 1, {FactorOption{.seconds = 2, .reconstruct = 1}}, {}},
                         {128, 2, 1, {}, 0},
                         {64, 4, 1, {}, {}}};
  problem.sync.computeFree = 4;
  problem.tail = {1, 2, 5};
  problem.forward = 6;
  return problem;
}

OrderMessage message(std::int64_t begin, std::int64_t end, double start) {
  return {.begin = begin,
          .end = end,
          .start = start,
          .finish = start + 1 + static_cast<double>(end - begin) / 64};
}

/// Half of layer 0 from 1 s to 4 s, layer 2 to 6 s, layer 1 to 9 s, the other half to 12 s.
OrderSolution inParts() {
  return {.choices = std::vector<Choice>(3),
          .messages = {message(192, 320, 1), message(0, 64, 4), message(64, 192, 6),
                       message(320, 448, 9)},
          .period = 13};
}

/// The factors of layer 0 from 1 s to 3 s, layer 2 from 4 s to 6 s, layer 1 to 9 s.
OrderSolution byFactors() {
  OrderSolution order{.choices = {{Choice::Kind::factors, 0}, {}, {}},
                      .messages = {{.isFactors = true, .start = 1, .finish = 3},
                                   message(0, 64, 4),
                                   message(64, 192, 6)},
                      .period = 12};
  return order;
}

/// The three layers in halves, each half of half the time.
OrderSolution inHalves(std::vector<std::pair<std::size_t, Half>> order) {
  const OrderProblem problem = smallProblem();
  OrderSolution solution{.choices = std::vector<Choice>(3), .messages = {}};
  double free = 0;
  for (const auto &[layer, half] : order) {
    OrderMessage next =
        std::vector{message(192, 448, 0), message(64, 192, 0), message(0, 64, 0)}[layer];
    next.half = half;
    next.start = half == Half::first ? std::max(free, problem.sync.layers[layer].ready) : free;
    next.finish = free = next.start + next.finish / 2;
    solution.messages.push_back(next);
  }
  solution.period = solver::periodOf(problem, solution);
  return solution;
}

OrderExplanation explained(const OrderProblem &problem, const OrderSolution &order,
                           std::size_t layer,
                           const std::optional<OrderCertificate> &certificate = {}) {
  const auto rejection = proof::checkOrder(problem, order);
  EXPECT_FALSE(rejection) << rejection->message;
  return explainOrder(problem, messagesOf(problem, order), certificate, layer);
}

std::vector<std::size_t> numbers(const std::vector<Overtaking> &list) {
  std::vector<std::size_t> result;
  for (const Overtaking &entry : list) {
    EXPECT_TRUE(entry.isNeeded) << entry.message;
    result.push_back(entry.message);
  }
  return result;
}

using Numbers = std::vector<std::size_t>;

} // namespace

/// Layer 0 travels in two messages; its second half arrives just in time, the first 8 s early.
TEST(OrderExplanation, OfAGradientThatIsCut) {
  const OrderExplanation why = explained(smallProblem(), inParts(), 0);
  EXPECT_DOUBLE_EQ(why.ready, 1);
  EXPECT_DOUBLE_EQ(why.tail, 1);
  ASSERT_EQ(why.parts.size(), 2u);
  EXPECT_EQ(why.parts[0].message, 0u);
  EXPECT_EQ(why.parts[0].bytes, 128);
  EXPECT_DOUBLE_EQ(why.parts[0].latest, 12);
  EXPECT_EQ(why.parts[1].message, 3u);
  EXPECT_EQ(why.parts[1].bytes, 128);
  EXPECT_DOUBLE_EQ(why.parts[1].latest, 12);
  EXPECT_FALSE(why.carrier || why.proof);
  EXPECT_EQ(numbers(why.overtakers), (Numbers{1, 2}));
  EXPECT_TRUE(why.overtaken.empty());
  // Both halves first: 1 to 4 to 7, then layer 2 to 9, 5 s before the end.
  EXPECT_DOUBLE_EQ(why.raised.period, 14);
  EXPECT_FALSE(why.raised.isPlanned);
  // Both last: 4 to 6 to 9, then 12 and 15, 1 s before the end.
  EXPECT_DOUBLE_EQ(why.lowered.period, 16);
}

/// Layer 2 leaves when it is ready, before messages that were ready earlier.
TEST(OrderExplanation, OfAGradientThatOvertakes) {
  const OrderExplanation why = explained(smallProblem(), inParts(), 2);
  ASSERT_EQ(why.parts.size(), 1u);
  EXPECT_DOUBLE_EQ(why.parts[0].latest, 8);
  EXPECT_DOUBLE_EQ(why.messages[1].latest, 8);
  EXPECT_TRUE(why.overtakers.empty());
  EXPECT_EQ(numbers(why.overtaken), (Numbers{2, 3}));
  EXPECT_TRUE(why.raised.isPlanned);
  EXPECT_DOUBLE_EQ(why.raised.period, 13);
  // 1 to 4, layer 1 to 7, the other half of layer 0 to 10, layer 2 to 12.
  EXPECT_DOUBLE_EQ(why.lowered.period, 17);
  EXPECT_TRUE(explained(smallProblem(), byFactors(), 1).lowered.isPlanned);
}

/// Layer 2 overtakes the others, and only where it is read before them it has to.
TEST(OrderExplanation, SaysWhetherOvertakingIsNeeded) {
  OrderProblem problem = smallProblem();
  OrderSolution order = inParts();
  order.messages = {message(0, 64, 4), message(192, 448, 6), message(64, 192, 11)};
  order.period = 16;
  EXPECT_EQ(numbers(explained(problem, order, 2).overtaken), (Numbers{1, 2}));
  problem.tail = {5, 2, 1};
  const OrderExplanation why = explained(problem, order, 2);
  ASSERT_EQ(why.overtaken.size(), 2u);
  EXPECT_FALSE(why.overtaken[0].isNeeded);
  EXPECT_FALSE(why.overtaken[1].isNeeded);
}

/// Reduce-scatters travel from 1 s, 3.5 s and 5 s, and all-gathers the other way round: of layer 2
/// to 7 s, layer 1 to 8.5 s and layer 0 to 11 s.
TEST(OrderExplanation, OfHalvesThatOvertake) {
  using enum Half;
  const OrderSolution order =
      inHalves({{0, first}, {1, first}, {2, first}, {2, second}, {1, second}, {0, second}});
  ASSERT_DOUBLE_EQ(order.period, 12);
  const OrderExplanation last = explained(smallProblem(), order, 2);
  EXPECT_EQ(numbers(last.overtaken), (Numbers{0, 1}));
  EXPECT_TRUE(last.overtakers.empty());
  EXPECT_TRUE(last.raised.isPlanned);
  EXPECT_FALSE(last.lowered.isPlanned);
  // The all-gathers of layers 1 and 0 to 6.5 and 9, then both halves of layer 2 to 11.
  EXPECT_DOUBLE_EQ(last.lowered.period, 16);
  const OrderExplanation middle = explained(smallProblem(), order, 1);
  EXPECT_EQ(numbers(middle.overtakers), (Numbers{2}));
  EXPECT_EQ(numbers(middle.overtaken), (Numbers{0}));
  const OrderExplanation earliest = explained(smallProblem(), order, 0);
  EXPECT_EQ(numbers(earliest.overtakers), (Numbers{1, 2}));
  EXPECT_TRUE(earliest.overtaken.empty());
  // Layer 0 to 6, the other reduce-scatters to 8.5, the all-gather of layer 2 to 9.5.
  EXPECT_DOUBLE_EQ(earliest.raised.period, 14.5);
  // Layer 2 to 6, layer 1 to 7.5, layer 0 to 10 and to 12.5.
  EXPECT_DOUBLE_EQ(earliest.lowered.period, 13.5);
}

/// Layer 1 leaves before layer 0 and arrives behind it, so that it overtook it once.
TEST(OrderExplanation, OfHalvesThatLeaveFirstAndArriveLast) {
  using enum Half;
  const OrderExplanation why = explained(
      smallProblem(),
      inHalves({{1, first}, {0, first}, {0, second}, {2, first}, {2, second}, {1, second}}), 1);
  EXPECT_EQ(numbers(why.overtaken), (Numbers{1}));
  EXPECT_EQ(numbers(why.overtakers), (Numbers{2}));
}

/// What has arrived is updated while the rest is awaited, so that the first half must be there a
/// half of the update earlier.
TEST(OrderExplanation, CountsTheUpdateOfWhatIsMissing) {
  OrderProblem problem = smallProblem();
  problem.update = {1, 0, 0};
  OrderSolution order = inParts();
  order.period = 13.5;
  const OrderExplanation why = explained(problem, order, 0);
  EXPECT_DOUBLE_EQ(why.update, 1);
  EXPECT_DOUBLE_EQ(why.parts[0].latest, 11.5);
  EXPECT_DOUBLE_EQ(why.parts[1].latest, 12);
}

/// Layer 0 must be there early enough to be reconstructed, and layers that are read before it as
/// much earlier.
TEST(OrderExplanation, CountsReconstruction) {
  const OrderExplanation why = explained(smallProblem(), byFactors(), 0);
  EXPECT_EQ(why.messages[0].scheme, Scheme::factors);
  EXPECT_DOUBLE_EQ(why.reconstruct, 1);
  EXPECT_DOUBLE_EQ(why.parts[0].latest, 10);
  const OrderExplanation before = explained(smallProblem(), byFactors(), 2);
  EXPECT_DOUBLE_EQ(before.tail, 6);
  EXPECT_DOUBLE_EQ(before.parts[0].latest, 6);
}

/// Layer 1 rides with layer 0, which is read after it.
TEST(OrderExplanation, OfAPiggyback) {
  OrderSolution order = byFactors();
  order.choices[1] = {Choice::Kind::piggyback, 0};
  order.messages.pop_back();
  const OrderExplanation why = explained(smallProblem(), order, 1);
  EXPECT_EQ(why.carrier, 0u);
  ASSERT_EQ(why.parts.size(), 1u);
  EXPECT_EQ(why.parts[0].message, 0u);
  EXPECT_DOUBLE_EQ(why.parts[0].latest, 9);
  EXPECT_DOUBLE_EQ(why.messages[0].latest, 9);
  EXPECT_EQ(why.messages[0].urgent, 1u);
}

/// The thresholds decide whether the bound rests on a layer; one that may ride is left out.
TEST(OrderExplanation, OfTheBound) {
  OrderCertificate certificate{.bound = 12, .ready = 1, .tail = 1, .lines = {}};
  const auto proofOf = [&](std::size_t layer) {
    return *explained(smallProblem(), inParts(), layer, certificate).proof;
  };
  EXPECT_TRUE(proofOf(0).isMember);
  EXPECT_FALSE(proofOf(0).isByComputation());
  EXPECT_DOUBLE_EQ(proofOf(0).channel(), 10);
  EXPECT_FALSE(proofOf(1).isMember);
  EXPECT_TRUE(proofOf(1).mayPiggyback);
  certificate.tail = 2;
  EXPECT_FALSE(proofOf(0).isMember);
  EXPECT_TRUE(proofOf(2).isMember);
  certificate = {.bound = 12, .ready = 2, .tail = 1, .lines = {}};
  EXPECT_FALSE(proofOf(0).isMember);
  certificate.bound = 10;
  EXPECT_TRUE(proofOf(0).isByComputation());
}

/// 200 random networks: a message that ends at its latest end leaves the period as it is, and one
/// that ends d later makes it d longer. Every gradient's latest arrival is no earlier than its
/// message's latest end, and one gradient's is equal.
TEST(OrderExplanation, LatestEndsAgreeWithTheForwardPass) {
  std::size_t cut = 0, factors = 0, riders = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [problem, solution] = randomOrder(seed);
    const Solution plan = messagesOf(problem, solution);
    const OrderExplanation why = explainOrder(problem, plan, {}, 0);
    const double period = solution.period, d = period / 8;
    const std::vector<std::size_t> messages = bringing(solution);
    std::vector<double> earliest(plan.messages.size(), period);
    for (std::size_t k = 0; k < problem.tail.size(); ++k)
      for (const OrderedPart &part : explainOrder(problem, plan, {}, k).parts)
        earliest[part.message] = std::min(earliest[part.message], part.latest);
    for (std::size_t m = 0; m < plan.messages.size(); ++m) {
      ASSERT_EQ(why.messages[m].latest, earliest[m]);
      ASSERT_GE(why.messages[m].latest, plan.messages[m].arrived() - 1e-11 * period);
      OrderSolution late = solution;
      late.messages[messages[m]].finish = why.messages[m].latest;
      ASSERT_LE(solver::periodOf(problem, late), period * (1 + 1e-11));
      late.messages[messages[m]].finish += d;
      ASSERT_NEAR(solver::periodOf(problem, late), period + d, 1e-11 * period);
      cut += plan.messages[m].cutBefore > 0 || plan.messages[m].cutBehind > 0;
      factors += plan.messages[m].isFactors;
    }
    riders += plan.piggybacks.size();
  }
  EXPECT_GT(cut, 50u);
  EXPECT_GT(factors, 100u);
  EXPECT_GT(riders, 20u);
}

} // namespace syncline::explain
