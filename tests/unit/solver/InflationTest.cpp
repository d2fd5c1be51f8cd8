// Plans for messages that take longer: judged as plans of the problem as it is.
#include "passes/solver/Inflation.h"

#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/OrderPlanner.h"
#include "tests/unit/solver/RandomOrderProblem.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace syncline::solver {

using namespace problem;
using namespace proof;

TEST(Inflation, EveryMessageTakesLonger) {
  const Problem problem = smallOrderProblem(3, 9).sync, longer = inflated(problem, 0.25);
  for (std::size_t i = 0; i < problem.mergeClasses.size(); ++i)
    for (std::size_t k = 0; k < problem.mergeClasses[i].options.size(); ++k)
      for (const std::int64_t bytes : {1, 1000, 1'000'000})
        EXPECT_DOUBLE_EQ(longer.mergeClasses[i].options[k].cost->seconds(bytes),
                         1.25 * problem.mergeClasses[i].options[k].cost->seconds(bytes));
  EXPECT_TRUE(validate(longer));
}

/// 200 problems: each order is valid with the problem's own times, has a bound of the problem
/// itself, and travels whole where asked.
TEST(Inflation, OrdersAreValidForTheProblemItself) {
  int halved = 0, slower = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderProblem problem = smallOrderProblem(seed, 9);
    const Result<OrderResult> best = planOrder(problem, **parsePlanner("optimal"));
    ASSERT_TRUE(best);
    for (const bool inHalves : {true, false}) {
      const auto planner = inflatedPlanner(20, inHalves);
      const Result<OrderResult> result = planOrder(problem, *planner);
      ASSERT_TRUE(result) << result.status().message();
      const auto rejection = checkOrder(problem, result->solution);
      ASSERT_FALSE(rejection) << rejection->message;
      const auto unproved = checkOrderBound(problem, result->certificate, result->solution.period);
      ASSERT_FALSE(unproved) << unproved->message;
      EXPECT_LE(best->certificate.bound, result->solution.period * (1 + sumRounding));
      slower += result->solution.period > best->solution.period * (1 + 1e-6);
      const bool isHalved = std::ranges::any_of(result->solution.messages, [](const auto &message) {
        return message.half != Half::whole;
      });
      EXPECT_FALSE(isHalved && !inHalves);
      halved += isHalved;
    }
  }
  EXPECT_GT(halved, 0);
  EXPECT_GT(slower, 0); // slack has its price
}

TEST(Inflation, WithoutAnyIsWhatOptimalGives) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const OrderProblem problem = smallOrderProblem(seed, 9);
    const auto own = planOrder(problem, **parsePlanner("optimal"));
    const auto order = searchOrder(problem, **parsePlanner("optimal"));
    ASSERT_TRUE(own && order);
    EXPECT_EQ(own->solution.period, order->period);
  }
}

/// In ready order, too: 'simulate' sweeps over overlaps.
TEST(Inflation, PlansInReadyOrderAreValid) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Problem problem = smallOrderProblem(seed, 9).sync;
    const Result<PlanResult> result = inflatedPlanner(10, true)->plan(problem);
    ASSERT_TRUE(result) << result.status().message();
    const auto rejection = checkSolution(problem, result->plan);
    EXPECT_FALSE(rejection) << rejection->message;
    EXPECT_LE(result->bound, result->plan.finish * (1 + proofRounding));
  }
}

TEST(Inflation, PlannersByName) {
  for (const char *name : {"inflated:5", "inflated:0:whole", "inflated:100:whole"}) {
    const auto planner = plannerOfPlan(name);
    ASSERT_TRUE(planner) << name;
    EXPECT_EQ((*planner)->name(), name);
    EXPECT_FALSE((*planner)->isOptimal());
    EXPECT_TRUE((*planner)->plansAnew());
    EXPECT_FALSE(parsePlanner(name)) << name; // no option of a user
  }
  EXPECT_DOUBLE_EQ((*plannerOfPlan("inflated:5"))->search()->inflation, 0.05);
  EXPECT_FALSE((*plannerOfPlan("inflated:0:whole"))->search()->inHalves);
  for (const char *name : {"inflated:", "inflated:0", "inflated:101", "inflated:-5", "inflated:05",
                           "inflated:5:half", "inflated:5%", "inflated::whole"})
    EXPECT_FALSE(plannerOfPlan(name)) << name;
}

} // namespace syncline::solver
