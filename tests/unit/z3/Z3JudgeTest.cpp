// Z3's answers, against the solver's.
#include "passes/z3/Z3Judge.h"

#include "passes/solver/Planner.h"
#include "passes/solver/Replay.h"
#include "passes/solver/Solver.h"
#include "tests/unit/z3/LargeProblem.h"

#include <gtest/gtest.h>

#include <ctime>

namespace syncline::z3judge {
namespace {

Problem threeLayers() {
  Problem problem;
  problem.mergeClasses = {
      {.options = {
           {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(1, 0.01), .traffic = 4}}}};
  for (double ready : {0.0, 0.1, 10.0})
    problem.layers.push_back({.bytes = 100, .ready = ready, .mergeClasses = 1});
  problem.computeFree = 10;
  return problem;
}

/// On 30 mixed instances with limits and costs that fall, no plan finishes before the solver's,
/// and a billionth later Z3 finds one that keeps the deadline by our clock.
TEST(Z3Judge, FindsPlansUpToTheOptimum) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Problem problem = solver::randomSmallProblem(30000 + seed, 8, 3000);
    SCOPED_TRACE("seed " + std::to_string(30000 + seed));
    const double finish = solver::solve(problem).plan.finish;
    Result<Answer> before = findPlan(problem, {finish * (1 - 1e-9), {}}, 600);
    Result<Answer> after = findPlan(problem, {finish * (1 + 1e-9), {}}, 600);
    ASSERT_TRUE(before && after);
    EXPECT_EQ(before->verdict, Verdict::impossible);
    ASSERT_EQ(after->verdict, Verdict::possible);
    ASSERT_TRUE(solver::choicesAreSound(problem, after->choices));
    EXPECT_LE(solver::replay(problem, after->choices).finish, finish * (1 + 2e-9));
  }
}

/// A layer-by-layer plan that is called the best is found out by an earlier one.
TEST(Z3Judge, FindsOutAFalseClaim) {
  const Problem problem = threeLayers();
  const double claimed = (*solver::parsePlanner("single"))->plan(problem)->plan.finish;
  Result<Answer> answer = findPlan(problem, {claimed * (1 - 1e-9), {}}, 600);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->verdict, Verdict::possible);
  EXPECT_LT(solver::replay(problem, answer->choices).finish, claimed);
}

/// With one message the backward pass has to be waited for.
TEST(Z3Judge, CountsMessages) {
  const Problem problem = threeLayers();
  EXPECT_EQ(findPlan(problem, {12.5, 2}, 600)->verdict, Verdict::possible);
  EXPECT_EQ(findPlan(problem, {12.5, 1}, 600)->verdict, Verdict::impossible);
  EXPECT_EQ(findPlan(problem, {14.01, 1}, 600)->verdict, Verdict::possible);
}

/// Without a deadline only the messages count.
TEST(Z3Judge, NeedsNoDeadline) {
  Problem problem = threeLayers();
  EXPECT_EQ(findPlan(problem, {{}, 1}, 600)->verdict, Verdict::possible);
  problem.mergeClasses[0].largestMessage = 200;
  EXPECT_EQ(findPlan(problem, {{}, 2}, 600)->verdict, Verdict::possible);
  EXPECT_EQ(findPlan(problem, {{}, 1}, 600)->verdict, Verdict::impossible);
}

/// Time that does not suffice ends in no answer, and soon.
TEST(Z3Judge, GivesUpInTime) {
  const Problem problem = largeProblem();
  ASSERT_TRUE(validate(problem).isOk());
  const double finish = solver::solve(problem).plan.finish;
  const std::clock_t start = std::clock(); // a loaded machine may take long
  Result<Answer> answer = findPlan(problem, {finish * (1 - 1e-9), {}}, 0.2);
  ASSERT_TRUE(answer) << answer.status().message();
  EXPECT_EQ(answer->verdict, Verdict::noAnswer);
  EXPECT_EQ(answer->reason, "timeout");
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
}

/// Without layers the backward pass is all there is.
TEST(Z3Judge, JudgesNoLayers) {
  Problem problem = threeLayers();
  problem.layers.clear();
  EXPECT_EQ(findPlan(problem, {10, {}}, 60)->verdict, Verdict::possible);
  EXPECT_EQ(findPlan(problem, {9, {}}, 60)->verdict, Verdict::impossible);
}

} // namespace
} // namespace syncline::z3judge
