// The best plan with few messages, against exhaustive search under the same limit.
#include "passes/z3/BestPlan.h"

#include "passes/solver/Replay.h"
#include "passes/solver/Solver.h"
#include "tests/reference/solver/ExhaustiveSearch.h"
#include "tests/unit/z3/LargeProblem.h"

#include <gtest/gtest.h>

namespace syncline::z3judge {
namespace {

constexpr double patience = 600; ///< seconds

Result<Answer> bestPlan(const Problem &problem, std::size_t maxMessages, const Known &known = {},
                        double seconds = patience) {
  return findBestPlan(problem, maxMessages, known, seconds,
                      [&](const std::vector<Choice> &choices) -> Result<double> {
                        EXPECT_TRUE(solver::choicesAreSound(problem, choices));
                        return solver::replay(problem, choices).finish;
                      });
}

/// Problems in which messages can hide behind computation, so that few messages cost time.
std::vector<Problem> sparseProblems(std::size_t count) {
  std::vector<Problem> problems;
  solver::Random random(31000);
  while (problems.size() < count) {
    solver::ProblemMix mix;
    mix.layers = 4 + static_cast<std::size_t>(random.below(3));
    mix.mergeClasses = 1 + static_cast<std::size_t>(random.below(2));
    mix.limits = random.below(4) == 0;
    mix.kind = random.below(2) == 0 ? solver::LayerKind::sparse : solver::LayerKind::spread;
    Problem problem = solver::randomProblem(random, mix);
    if (validate(problem).isOk() && reference::countChoices(problem) <= 3000)
      problems.push_back(std::move(problem));
  }
  return problems;
}

/// On 12 instances, with one to three messages. The limit must matter in many, and leave some
/// without a plan.
TEST(FindBestPlan, EqualsExhaustiveSearch) {
  int later = 0, without = 0;
  for (const Problem &problem : sparseProblems(12)) {
    const std::optional<Solution> unlimitedBest = reference::exhaustiveSolution(problem);
    for (std::size_t most = 1; most <= 3; ++most) {
      SCOPED_TRACE(std::to_string(most) + " messages");
      const std::optional<Solution> best = reference::exhaustiveSolution(problem, most);
      Result<Answer> answer = bestPlan(problem, most);
      ASSERT_TRUE(answer) << answer.status().message();
      ASSERT_EQ(answer->verdict, best ? Verdict::possible : Verdict::impossible);
      if (!best) {
        ++without;
        continue;
      }
      later += best->finish > unlimitedBest->finish * (1 + 1e-6);
      const Solution found = solver::replay(problem, answer->choices);
      EXPECT_LE(found.messages.size(), most);
      EXPECT_NEAR(found.finish, best->finish, 2e-9 * best->finish);
    }
  }
  EXPECT_GT(later, 5);
  EXPECT_GT(without, 0);
}

/// What is known beforehand changes the questions, not the answer.
TEST(FindBestPlan, StartsFromWhatIsKnown) {
  for (std::uint64_t seed = 32001; seed <= 32010; ++seed) {
    const Problem problem = solver::randomSmallProblem(seed, 7, 2000);
    const std::optional<Solution> best = reference::exhaustiveSolution(problem, 2);
    if (!best)
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const double bound = solver::solve(problem).bound();
    for (const Known &known : {Known{bound}, Known{bound, solver::choicesOf(problem, *best)}}) {
      Result<Answer> answer = bestPlan(problem, 2, known);
      ASSERT_TRUE(answer) << answer.status().message();
      EXPECT_NEAR(solver::replay(problem, answer->choices).finish, best->finish,
                  2e-9 * best->finish);
    }
  }
}

/// A plan that is already as early as the bound needs no question.
TEST(FindBestPlan, AsksNothingAboutAPlanAtTheBound) {
  const Problem problem = solver::randomSmallProblem(33001, 7, 2000);
  const Solution best = *reference::exhaustiveSolution(problem);
  const Known known{best.finish, solver::choicesOf(problem, best)};
  Result<Answer> answer = bestPlan(problem, best.messages.size(), known, 1e-6);
  ASSERT_TRUE(answer) << answer.status().message();
  EXPECT_EQ(answer->verdict, Verdict::possible);
  EXPECT_EQ(answer->choices, *known.plan);
}

/// A clock that calls every plan later than Z3 does is a fault of ours.
TEST(FindBestPlan, RefusesAClockThatDisagrees) {
  const Problem problem = solver::randomSmallProblem(33001, 7, 2000);
  double hours = 0;
  Result<Answer> answer = findBestPlan(problem, 7, {}, patience,
                                       [&](const std::vector<Choice> &) { return ++hours * 3600; });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.status().kind(), ErrorKind::internal);
}

/// All questions share the time.
TEST(FindBestPlan, GivesUpInTime) {
  const Problem problem = largeProblem();
  Result<Answer> answer = bestPlan(problem, 8, {}, 0.5);
  ASSERT_TRUE(answer) << answer.status().message();
  EXPECT_EQ(answer->verdict, Verdict::noAnswer);
}

} // namespace
} // namespace syncline::z3judge
