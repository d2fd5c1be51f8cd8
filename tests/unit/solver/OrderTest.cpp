// The planner of orders against exhaustive search, the exact planner in ready order, the judges and
// other systems' rules.
#include "passes/solver/OrderPlanner.h"

#include "passes/proof/OrderChecker.h"
#include "passes/solver/ListSchedule.h"
#include "passes/solver/OrderBound.h"
#include "passes/solver/OrderRivals.h"
#include "passes/solver/Planner.h"
#include "tests/reference/solver/OrderReference.h"
#include "tests/support/DearPeriod.h"
#include "tests/support/Depth.h"
#include "tests/support/ProblemBuilder.h"
#include "tests/support/TraceOrder.h"
#include "tests/unit/solver/Accepted.h"
#include "tests/unit/solver/RandomOrderProblem.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace syncline::solver {

using namespace problem;
using namespace proof;
using namespace reference;
using test::problemOfAllSchemes;
using test::TraceLayer;
namespace {

Solution inReadyOrder(const OrderProblem &problem) {
  return (*parsePlanner("optimal"))->plan(problem.sync)->plan;
}

/// Written as messages and read again, an order is the same.
void expectSameAsMessages(const OrderProblem &problem, const OrderSolution &solution) {
  if (std::ranges::any_of(problem.sync.layers, [](const Layer &l) { return l.bytes == 0; }))
    return; // no message names a layer without bytes
  const Solution messages = messagesOf(problem, solution);
  const auto rejection = checkMessages(problem, messages);
  EXPECT_FALSE(rejection) << rejection->message;
  EXPECT_EQ(orderFrom(problem, messages).choices, solution.choices);
}

/// The problem with only schemes that have halves, or none that has.
OrderProblem withScheme(OrderProblem problem, Scheme scheme) {
  for (MergeClass &mergeClass : problem.sync.mergeClasses)
    for (SchemeOption &option : mergeClass.options)
      option.scheme = scheme;
  return problem;
}

/// 1,000 small networks of every kind: nothing beats the best of all cuts, merges, orders and ways,
/// no bound exceeds it, and what is called optimal is as good.
class ExhaustiveOrder : public testing::TestWithParam<Scheme> {};

TEST_P(ExhaustiveOrder, Agrees) {
  int optimal = 0, reached = 0, halved = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const OrderProblem problem = withScheme(smallOrderProblem(seed, 8), GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderResult result = planOrder(problem, inReadyOrder(problem));
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
    const double best = shortestPeriod(problem);
    ASSERT_GE(result.solution.period, best * (1 - 1e-11));
    ASSERT_LE(result.certificate.bound, best * (1 + 1e-11));
    if (result.isOptimal()) {
      ASSERT_NEAR(result.solution.period, best, 2e-11 * best);
    }
    optimal += result.isOptimal();
    reached += result.solution.period <= best * (1 + 1e-9);
    if (hasHalves(GetParam())) {
      const double whole = shortestPeriod(withScheme(problem, Scheme::tree));
      ASSERT_LE(best, whole);
      halved += best < whole * (1 - 1e-9);
    }
  }
  RecordProperty("optimal", optimal);
  RecordProperty("reached", reached);
  RecordProperty("halved", halved);
  EXPECT_GE(optimal, 200) << "of 1,000 are proved, so that the comparison says something";
  EXPECT_GE(reached, 500) << "of 1,000 have the best period, proved or not";
  EXPECT_GE(halved, hasHalves(GetParam()) ? 30 : 0) << "of 1,000 have shorter orders in halves";
}

INSTANTIATE_TEST_SUITE_P(Schemes, ExhaustiveOrder, testing::Values(Scheme::tree, Scheme::ring),
                         [](const auto &info) {
                           return hasHalves(info.param) ? "halves" : "whole";
                         });

/// 2,000 networks of up to 30 layers, 240 in a short run: no period is longer than in ready order.
/// With the cost of a line none is shorter by more than the forward pass, since the messages alone
/// take as long. (A layer without bytes costs a message in ready order alone.)
TEST(Order, NeverWorseThanReadyOrder) {
  const std::uint64_t seeds = test::repeat(240, 2000);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    const CostKind cost = allCostKinds[seed % 8];
    const LayerKind layers = allLayerKinds[random.below(7)];
    const std::size_t count = 1 + static_cast<std::size_t>(random.below(30));
    const OrderProblem problem = randomOrderProblem(
        random, problemOf(randomProblem(random, cost, layers, count)), random.below(3) == 0);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_TRUE(validate(problem).isOk()) << validate(problem).message();
    const Solution merged = inReadyOrder(problem);
    const OrderResult result = planOrder(problem, merged);
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
    expectSameAsMessages(problem, result.solution);
    const double barrier = merged.finish + problem.forward;
    ASSERT_LE(result.solution.period, barrier * (1 + 1e-11));
    const bool isLine =
        cost == CostKind::affine || cost == CostKind::noLatency || cost == CostKind::hugeLatency;
    const bool allTravel = std::ranges::all_of(problem.sync.layers,
                                               [](const Layer &layer) { return layer.bytes > 0; });
    if (isLine && allTravel) {
      ASSERT_GE(result.solution.period, merged.finish * (1 - 1e-9));
    }
  }
}

/// The plan that finishes first in ready order may have a longer period than a rule's, since
/// factors are reconstructed before their readers. No order by "optimal" is longer than either.
TEST(Order, NeverWorseThanARule) {
  const auto optimal = *parsePlanner("optimal");
  int longer = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const OrderProblem problem =
        randomOrderProblem(random, randomSmallProblem(seed, 12, 1 << 30), seed % 3 == 0);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::optional<Solution> ruled = bestRuledSolution(problem.sync);
    if (!ruled)
      continue;
    const double period = orderOf(problem, *ruled).period;
    longer += orderOf(problem, optimal->plan(problem.sync)->plan).period > period * (1 + 1e-9);
    const Result<OrderResult> result = planOrder(problem, *optimal);
    ASSERT_TRUE(result) << result.status().message();
    ASSERT_LE(result->solution.period, period * (1 + 1e-11));
  }
  EXPECT_GT(longer, 0);
}

/// 200 networks with several merge classes, factors, piggybacks and limits.
TEST(Order, CarriesEveryScheme) {
  int byFactors = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const OrderProblem problem =
        randomOrderProblem(random, randomSmallProblem(seed, 12, 1 << 30), false);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderResult result = planOrder(problem, inReadyOrder(problem));
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
    for (const Choice &choice : result.solution.choices)
      byFactors += choice.kind == Choice::Kind::factors;
  }
  EXPECT_GT(byFactors, 100);
}

OrderProblem chain(std::initializer_list<MergeLayer> layers, std::vector<double> tails,
                   double latency, double secondsPerByte) {
  OrderProblem problem;
  problem.sync =
      problemOf({layers, {{Scheme::ring, std::make_shared<AffineCost>(latency, secondsPerByte)}}});
  problem.tail = std::move(tails);
  problem.forward = problem.tail.back();
  problem.grain = 1;
  return problem;
}

/// Without latency the bound is attained: what is needed first goes first, cut as finely as needed.
TEST(Order, AttainsTheBoundWithoutLatency) {
  // 10 s on the link behind 1 s and 2 s of backward pass; the first layer is read 4 s before the
  // end, the last one 1 s before.
  const OrderProblem problem = chain({{9000, 1}, {1000, 2}}, {1, 4}, 0, 1e-3);
  const OrderResult result = planOrder(problem, inReadyOrder(problem));
  // The first layer's second on the link interrupts the last layer's nine: 1 + 10 + 1.
  EXPECT_NEAR(result.certificate.bound, 12, 1e-9);
  EXPECT_NEAR(result.solution.period, 12, 1e-6);
}

/// A first layer's message that nothing can hide is part of the bound: 2 s of backward pass, 3 s on
/// the link, 4 s of forward pass.
TEST(Order, ProvesWhatCannotBeHidden) {
  const OrderProblem problem = chain({{10, 1}, {1000, 2}}, {1, 4}, 2, 1e-3);
  const OrderResult result = planOrder(problem, inReadyOrder(problem));
  EXPECT_NEAR(result.certificate.bound, 9, 1e-9);
  EXPECT_TRUE(result.isOptimal()) << result.solution.period;
}

/// AlexNet on 16 ranks at 10 Gb/s, where one of the large layers may travel by factors: one sum for
/// both ways leaves a gap of 6 %, which two cases close.
TEST(Order, ProvesByCases) {
  const std::vector<TraceLayer> alexNet = {{139776, 16.36e-3, 16.36e-3},
                                           {1229824, 34.75e-3, 69.49e-3},
                                           {3540480, 23.2e-3, 46.4e-3},
                                           {2655744, 17.4e-3, 34.8e-3},
                                           {1770496, 11.6e-3, 23.2e-3},
                                           {151011328, 5.857e-3, 11.71e-3, 9216, 4096, 256},
                                           {67125248, 2.603e-3, 5.206e-3, 4096, 4096, 256},
                                           {16388000, 0.6355e-3, 1.271e-3, 4096, 1000, 256}};
  for (const auto &[ranks, gigabits] : {std::pair{4, 5.0}, {16, 10.0}}) {
    const OrderProblem problem = problemOfAllSchemes(alexNet, ranks, gigabits);
    const OrderResult result = planOrder(problem, inReadyOrder(problem));
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, result));
    EXPECT_EQ(result.certificate.cases.size(), 2u);
    EXPECT_LE(result.gap(), 0.02);
    EXPECT_GT(result.solution.period, 1.03 * orderBound(problem).bound) << "in one sum";
  }
}

/// A solution has the same period in the problem that is restricted to the way of one of its
/// layers, and is no solution where the layer must travel otherwise.
TEST(Order, IsTheSameWhereItsWaysAreFixed) {
  int byFactors = 0, inBuckets = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const OrderProblem problem =
        randomOrderProblem(random, randomSmallProblem(seed, 12, 1 << 30), seed % 3 == 0);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderSolution order = planOrder(problem, inReadyOrder(problem)).solution;
    for (std::size_t k = 0; k < order.choices.size(); ++k) {
      if (!travelsBothWays(problem, k))
        continue;
      const bool isByFactors = order.choices[k].kind == Choice::Kind::factors;
      (isByFactors ? byFactors : inBuckets) += 1;
      const auto rejection = checkOrder(restricted(problem, k, isByFactors), order);
      ASSERT_FALSE(rejection) << rejection->message;
      ASSERT_TRUE(checkOrder(restricted(problem, k, !isByFactors), order));
    }
  }
  EXPECT_GE(byFactors, 50);
  EXPECT_GE(inBuckets, 50);
}

/// Where gradients stay whole, no message ends inside one, by the planner or by another system's
/// rule. The same problems with cuts have some.
TEST(Order, KeepsGradientsWhole) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    OrderProblem problem = randomOrderProblem(
        random, problemOf(randomProblem(random, CostKind::affine, allLayerKinds[seed % 7], 30)),
        false);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderSolution free = planOrder(problem, inReadyOrder(problem)).solution;
    problem.cutsGradients = false;
    cut += checkOrder(problem, free).has_value();
    ASSERT_NO_FATAL_FAILURE(expectAccepted(problem, planOrder(problem, inReadyOrder(problem))));
    for (const OrderSolution &other :
         {priorityOrder(problem, 1 << 14), priorityOrder(problem, 1 << 14, 1 << 16)}) {
      const auto rejection = checkOrder(problem, other);
      ASSERT_FALSE(rejection) << rejection->message;
    }
  }
  EXPECT_GE(cut, 10) << "of 200 are cut where they may be, so that the test says something";
}

/// Other systems' orders are solutions, so that none beats the bound.
TEST(OrderRivals, DoNotBeatTheBound) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const OrderProblem problem = randomOrderProblem(
        random, problemOf(randomProblem(random, CostKind::affine, allLayerKinds[seed % 7], 30)),
        false);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const double bound = planOrder(problem, inReadyOrder(problem)).certificate.bound * (1 - 1e-11);
    EXPECT_GE(dearPeriod(problem, 1 << 16), bound);
    EXPECT_GE(priorityOrder(problem, 1 << 14).period, bound);
    EXPECT_GE(priorityOrder(problem, 1 << 14, 1 << 16).period, bound);
    EXPECT_GE(priorityOrder(problem, unlimited).period, bound);
  }
}

/// Two layers of 4 s and 2 s on the link, with 1 s a message; the second is ready at 3 s
/// and is read first.
TEST(OrderRivals, FollowTheirRules) {
  const OrderProblem problem = chain({{4, 0}, {2, 3}}, {1, 3}, 1, 1);
  // Whole layers: the first one ends at 5 s, the second at 8 s, which is read 3 s before the end.
  EXPECT_DOUBLE_EQ(priorityOrder(problem, unlimited).period, 11);
  // Slices of 2 B: from 0 to 3 s, then the second layer until 6 s, the rest until 9 s.
  EXPECT_DOUBLE_EQ(priorityOrder(problem, 2).period, 10);
  EXPECT_EQ(priorityOrder(problem, 2).messages.size(), 3u);
  // With credit for both slices of the first layer they are queued before the second one exists.
  EXPECT_DOUBLE_EQ(priorityOrder(problem, 2, 4).period, 12);
  // Halves of 2.5 s and 1.5 s, then 1.5 s and 2.5 s: the second layer at 6 s, the first at 8.5 s.
  EXPECT_DOUBLE_EQ(dearPeriod(problem, 1), 9.5);
}

} // namespace
} // namespace syncline::solver
