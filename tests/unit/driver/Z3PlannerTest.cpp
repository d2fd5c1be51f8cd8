// The planner that asks Z3: what it plans, and what it refuses.
#include "frontend/driver/Z3Planner.h"

#include <gtest/gtest.h>

namespace syncline::driver {
namespace {

using namespace problem;

/// Gradients of 100 bytes that are ready a second apart, on a line of 1 s and 0.01 s a byte.
Problem problemOf(std::size_t layers) {
  Problem problem;
  problem.mergeClasses = {
      {{{Scheme::ring, std::make_shared<AffineCost>(1, 0.01), 4}}, unlimited, unlimited}};
  for (std::size_t k = 0; k < layers; ++k)
    problem.layers.push_back({100, static_cast<double>(k), 1, {}, {}});
  problem.computeFree = static_cast<double>(layers);
  return problem;
}

Result<solver::PlanResult> planned(const Problem &problem, const std::string &planner,
                                   double seconds = 600) {
  const auto named = *solver::parsePlanner(planner);
  Result<std::shared_ptr<const solver::Planner>> planning = z3Planner(*named, seconds);
  if (!planning)
    return planning.status();
  EXPECT_EQ((*planning)->name(), planner);
  return (*planning)->plan(problem);
}

void expectRefusal(const Result<solver::PlanResult> &result, const std::string &message) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().kind(), ErrorKind::badInput);
  EXPECT_EQ(result.status().message(), message);
}

/// With one message everything is sent at the end. The bound holds for any number of messages, so
/// the limited plan is not called optimal.
TEST(Z3Planner, PlansWithinTheLimit) {
  const double best = (*solver::parsePlanner("optimal"))->plan(problemOf(6))->plan.finish;
  Result<solver::PlanResult> one = planned(problemOf(6), "z3:messages=1");
  ASSERT_TRUE(one) << one.status().message();
  EXPECT_EQ(one->plan.messages.size(), 1u);
  EXPECT_DOUBLE_EQ(one->plan.finish, 5 + 1 + 6);
  EXPECT_DOUBLE_EQ(one->bound, best);
  EXPECT_FALSE(one->optimal());
  Result<solver::PlanResult> six = planned(problemOf(6), "z3:messages=6");
  ASSERT_TRUE(six) << six.status().message();
  EXPECT_DOUBLE_EQ(six->plan.finish, best);
  EXPECT_TRUE(six->optimal());
}

TEST(Z3Planner, RefusesManyGradients) {
  expectRefusal(planned(problemOf(101), "z3:messages=2"),
                "planner 'z3:messages=2': Z3 takes at most 100 gradients, got 101");
  EXPECT_TRUE(planned(problemOf(101), "z3:messages=101")); // the best plan has fewer
}

TEST(Z3Planner, RefusesALimitThatNoPlanKeeps) {
  Problem problem = problemOf(4);
  problem.mergeClasses[0].largestMessage = 200;
  expectRefusal(planned(problem, "z3:messages=1"),
                "planner 'z3:messages=1': no plan has so few messages: some gradients cannot share "
                "one");
}

TEST(Z3Planner, GivesUpInTime) {
  expectRefusal(planned(problemOf(60), "z3:messages=3", 0.001),
                "planner 'z3:messages=3': Z3 gave no answer within 1.00 ms for 60 gradients");
}

} // namespace
} // namespace syncline::driver
