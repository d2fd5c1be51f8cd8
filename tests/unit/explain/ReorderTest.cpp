// The messages of random orders in other orders: the judge accepts them, and each stands in its
// proper place.
#include "passes/explain/Reorder.h"

#include "passes/problem/OrderMessages.h"
#include "passes/proof/OrderChecker.h"
#include "tests/unit/explain/RandomOrders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace syncline::explain {

using namespace problem;
namespace {

/// The judge accepts the order, and no message could start earlier in it.
void expectTight(const OrderProblem &problem, const OrderSolution &order) {
  if (auto rejection = proof::checkOrder(problem, order))
    FAIL() << rejection->message;
  const Solution messages = messagesOf(problem, order);
  double free = 0;
  std::size_t next = 0;
  for (const Piece &piece : order.pieces) {
    const double ready = piece.half == Half::second ? 0 : messages.messages[next++].ready;
    ASSERT_DOUBLE_EQ(piece.start, std::max(free, ready));
    free = piece.finish;
  }
}

/// The numbers of the messages that are not chosen, as they stand in the order.
std::vector<std::size_t> without(std::vector<std::size_t> order,
                                 const std::vector<std::size_t> &chosen) {
  std::erase_if(order, [&](std::size_t m) { return std::ranges::binary_search(chosen, m); });
  return order;
}

} // namespace

/// Every order of the messages is a solution, and the planned one becomes no longer.
TEST(Reorder, GivesSolutions) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [problem, solution] = randomOrder(seed);
    solver::Random random(seed);
    std::vector<std::size_t> order(messagesOf(problem, solution).messages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const OrderSolution same = reordered(problem, solution, order);
    ASSERT_NO_FATAL_FAILURE(expectTight(problem, same));
    ASSERT_LE(same.period, solution.period * (1 + 1e-12));
    for (std::size_t i = order.size(); i-- > 1;)
      std::swap(order[i],
                order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
    ASSERT_NO_FATAL_FAILURE(expectTight(problem, reordered(problem, solution, order)));
  }
}

/// A raised message stands before exactly those others that start once it is ready; a lowered one
/// stands behind all others. The others keep their order.
TEST(Reorder, MovesTheChosenMessages) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [problem, solution] = randomOrder(seed);
    const Solution messages = messagesOf(problem, solution);
    const std::size_t count = messages.messages.size();
    if (count == 0)
      continue; // no gradient has bytes
    const std::vector<std::size_t> chosen =
        count > 3 ? std::vector{count / 3, count - 1} : std::vector{count - 1};
    const std::vector<std::size_t> first = raised(messages, chosen),
                                   last = lowered(messages, chosen);
    const std::vector<std::size_t> others = without(first, chosen);
    ASSERT_TRUE(std::ranges::is_sorted(others));
    ASSERT_EQ(others.size() + chosen.size(), count);
    for (std::size_t m : chosen)
      for (std::size_t other : others) {
        const bool isBehind = std::ranges::find(first, m) < std::ranges::find(first, other);
        ASSERT_EQ(isBehind,
                  messages.messages[other].start >= messages.messages[m].ready || other > m);
      }
    std::vector<std::size_t> expected = others;
    expected.insert(expected.end(), chosen.begin(), chosen.end());
    ASSERT_EQ(last, expected);
  }
}

} // namespace syncline::explain
