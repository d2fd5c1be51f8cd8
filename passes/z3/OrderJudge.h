// OrderJudge: whether the messages of an order have a shorter step in another order. README.md has
// the model ("The best order of the same messages"). A build without Z3 refuses (WithoutZ3.cpp).
#pragma once

#include "passes/problem/OrderProblem.h"
#include "passes/z3/Z3Judge.h"

#include <cstddef>
#include <string>
#include <vector>

namespace syncline::z3judge {

/// The most messages whose orders Z3 is asked about. More would take too long.
inline constexpr std::size_t maxAskedMessages = 64;

struct OrderAnswer {
  Verdict verdict = Verdict::noAnswer;
  std::vector<std::size_t> order; ///< where possible: the solution's messages in another order
  std::string reason;             ///< where there is no answer: Z3's
};

/// Whether the solution's messages, with their gradients, bytes and options, have an order with a
/// period of at most `deadline` seconds, in exact rational arithmetic. Gives up after `seconds`.
/// badInput where there are more than maxAskedMessages; internal where Z3 fails. Preconditions: the
/// problem is valid, and the solution is valid for it.
Result<OrderAnswer> findOrder(const OrderProblem &problem, const OrderSolution &solution,
                              double deadline, double seconds);

} // namespace syncline::z3judge
