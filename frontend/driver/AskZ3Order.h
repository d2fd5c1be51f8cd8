// Z3's opinion of a plan whose messages travel in an order.
#pragma once

#include "passes/problem/OrderProblem.h"
#include "syncline/Status.h"

#include <string>

namespace syncline::driver {

/// Asks whether the plan's own messages have a shorter step in another order; a line of text that
/// says what was proved and what was not. `bound` is the plan's. badInput where there are too many
/// messages or no answer in time; internal where the plan's proof is wrong. Precondition: the
/// solution is valid for the problem.
Result<std::string> askZ3AboutOrder(const std::string &folder, const problem::OrderProblem &problem,
                                    const problem::OrderSolution &solution, double bound,
                                    double seconds);

} // namespace syncline::driver
