// Z3's best order of few messages is the best of all of them, tried one by one.
#include "passes/z3/OrderJudge.h"

#include "passes/explain/Reorder.h"
#include "tests/unit/explain/RandomOrders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace syncline::z3judge {
namespace {

constexpr double patience = 600;

std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Whether every second half stands behind its first one.
bool isPossible(const OrderSolution &solution, const std::vector<std::size_t> &order) {
  std::set<std::pair<std::size_t, std::int64_t>> reduced; // by merge class and first byte
  for (std::size_t p : order) {
    const OrderMessage &message = solution.messages[p];
    if (message.half == Half::first)
      reduced.emplace(message.index, message.begin);
    if (message.half == Half::second && !reduced.contains({message.index, message.begin}))
      return false;
  }
  return true;
}

/// The solution with messages in halves where its schemes have them, second halves right behind
/// the first ones.
OrderSolution halved(const OrderProblem &problem, const OrderSolution &solution) {
  OrderSolution halves;
  halves.choices = solution.choices;
  for (OrderMessage message : solution.messages) {
    if (message.half == Half::whole && !message.isFactors &&
        hasHalves(problem.sync.mergeClasses[message.index].options[message.option].scheme)) {
      message.half = Half::first;
      halves.messages.push_back(message);
      message.half = Half::second;
    }
    halves.messages.push_back(message);
  }
  return explain::reordered(problem, halves, numbers(halves.messages.size()));
}

double shortestPeriod(const OrderProblem &problem, const OrderSolution &solution) {
  std::vector<std::size_t> order = numbers(solution.messages.size());
  double shortest = solution.period;
  do
    if (isPossible(solution, order))
      shortest = std::min(shortest, explain::reordered(problem, solution, order).period);
  while (std::ranges::next_permutation(order).found);
  return shortest;
}

} // namespace

// Several merge classes, factors, piggybacks, cuts, updates and halves; plans and shuffled plans.
TEST(OrderJudge, AgreesWithAllOrders) {
  constexpr std::size_t most = 6;
  int asked = 0, better = 0, inHalves = 0;
  for (std::uint64_t seed = 1; asked < 120; ++seed) {
    auto [problem, solution] = explain::randomOrder(seed);
    if (asked % 3 == 0)
      solution = halved(problem, solution);
    if (solution.messages.size() < 2 || solution.messages.size() > most)
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    inHalves += std::ranges::count(solution.messages, Half::second, &OrderMessage::half) > 0;
    if (asked++ % 2 == 1) {
      std::vector<std::size_t> order = numbers(solution.messages.size());
      std::ranges::rotate(order, order.begin() + 1);
      if (isPossible(solution, order))
        solution = explain::reordered(problem, solution, order);
    }
    const double shortest = shortestPeriod(problem, solution);
    better += shortest < solution.period * (1 - 1e-6);
    Result<OrderAnswer> answer = findOrder(problem, solution, shortest * (1 + 1e-9), patience);
    ASSERT_TRUE(answer) << answer.status().message();
    ASSERT_EQ(answer->verdict, Verdict::possible);
    ASSERT_TRUE(isPossible(solution, answer->order));
    ASSERT_LE(explain::reordered(problem, solution, answer->order).period, shortest * (1 + 2e-9));
    answer = findOrder(problem, solution, shortest * (1 - 1e-9), patience);
    ASSERT_TRUE(answer) << answer.status().message();
    ASSERT_EQ(answer->verdict, Verdict::impossible);
  }
  EXPECT_GE(inHalves, 20);
  EXPECT_GT(better, 20); // else the test would ask about the best order alone
}

TEST(OrderJudge, RefusesTooManyMessages) {
  OrderSolution solution;
  solution.messages.resize(maxAskedMessages + 1);
  const Result<OrderAnswer> answer = findOrder({}, solution, 1, patience);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.status().message(), "Z3 compares orders of at most 64 messages, got 65");
}

} // namespace syncline::z3judge
