// The messages of random orders in other orders: the judge accepts them, and each stands in its
// proper place.
#include "passes/explain/Reorder.h"

#include "passes/proof/OrderChecker.h"
#include "tests/unit/explain/RandomOrders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace syncline::explain {

using namespace problem;
namespace {

/// The judge accepts the order, and no message could start earlier in it.
void expectTight(const OrderProblem &problem, const OrderSolution &order) {
  if (auto rejection = proof::checkOrder(problem, order))
    FAIL() << rejection->message;
  const Solution plan = messagesOf(problem, order);
  double free = 0;
  std::size_t next = 0;
  for (const OrderMessage &message : order.messages) {
    const double ready = message.half == Half::second ? 0 : plan.messages[next++].ready;
    ASSERT_DOUBLE_EQ(message.start, std::max(free, ready));
    free = message.finish;
  }
}

/// The number of each message in the plan, both halves included.
std::vector<std::size_t> messageOf(const OrderSolution &solution) {
  std::vector<std::size_t> numbers;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> halved; // by class and first byte
  std::size_t next = 0;
  for (const OrderMessage &message : solution.messages) {
    if (message.half == Half::first)
      halved[{message.index, message.begin}] = next;
    numbers.push_back(message.half == Half::second ? halved.at({message.index, message.begin})
                                                   : next++);
  }
  return numbers;
}

/// The messages in a random order, but with second halves behind first ones.
std::vector<std::size_t> shuffled(const OrderSolution &solution, solver::Random &random) {
  std::vector<std::size_t> order(solution.messages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i-- > 1;)
    std::swap(order[i],
              order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
  const std::vector<std::size_t> messages = messageOf(solution);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j)
      if (messages[order[i]] == messages[order[j]] && order[i] > order[j])
        std::swap(order[i], order[j]);
  return order;
}

/// A planned order, or for odd seeds a random order of messages in halves, where their schemes have
/// them. Planned orders have few halves.
RandomOrder orderOf(std::uint64_t seed) {
  RandomOrder order = randomOrder(seed);
  if (seed % 2 == 0)
    return order;
  OrderSolution halves{.choices = order.solution.choices, .messages = {}};
  for (OrderMessage message : order.solution.messages) {
    const bool halved =
        message.half == Half::whole && !message.isFactors &&
        hasHalves(order.problem.sync.mergeClasses[message.index].options[message.option].scheme);
    message.half = halved ? Half::first : message.half;
    halves.messages.push_back(message);
    message.half = Half::second;
    if (halved)
      halves.messages.push_back(message);
  }
  solver::Random random(seed);
  order.solution = reordered(order.problem, halves, shuffled(halves, random));
  return order;
}

} // namespace

/// Every order of the messages is a solution, and the planned one becomes no longer.
TEST(Reorder, GivesSolutions) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [problem, solution] = orderOf(seed);
    solver::Random random(seed);
    std::vector<std::size_t> order(solution.messages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const OrderSolution same = reordered(problem, solution, order);
    ASSERT_NO_FATAL_FAILURE(expectTight(problem, same));
    ASSERT_LE(same.period, solution.period * (1 + 1e-12));
    const OrderSolution other = reordered(problem, solution, shuffled(solution, random));
    ASSERT_NO_FATAL_FAILURE(expectTight(problem, other));
  }
}

/// A raised message stands before exactly those others that start once it is ready; a lowered one
/// stands behind all others. Both take their second halves along, and the others keep their order
/// among themselves.
TEST(Reorder, MovesTheChosenMessages) {
  std::size_t seconds = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [problem, solution] = orderOf(seed);
    const Solution plan = messagesOf(problem, solution);
    const std::size_t count = plan.messages.size();
    if (count == 0)
      continue; // no gradient has bytes
    const std::vector<std::size_t> chosen =
        count > 3 ? std::vector{count / 3, count - 1} : std::vector{count - 1};
    const std::vector<std::size_t> of = messageOf(solution), first = raised(plan, solution, chosen);
    std::vector<std::size_t> own, others;
    for (std::size_t p : first)
      (std::ranges::binary_search(chosen, of[p]) ? own : others).push_back(p);
    ASSERT_TRUE(std::ranges::is_sorted(others));
    ASSERT_EQ(first.size(), of.size());
    std::ranges::sort(own);
    for (std::size_t p : own) {
      const std::size_t begin =
          static_cast<std::size_t>(std::ranges::find(of, of[p]) - of.begin()); // its first half
      seconds += begin < p;
      for (std::size_t other : others) {
        const bool isBehind = std::ranges::find(first, p) < std::ranges::find(first, other);
        ASSERT_EQ(isBehind,
                  solution.messages[other].start >= plan.messages[of[p]].ready || other > begin);
      }
    }
    std::vector<std::size_t> expected = others;
    expected.insert(expected.end(), own.begin(), own.end());
    ASSERT_EQ(lowered(solution, chosen), expected);
    ASSERT_EQ(numbersInPlan(solution), of);
  }
  EXPECT_GT(seconds, 30u);
}

} // namespace syncline::explain
