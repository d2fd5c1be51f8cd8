// Reorder: the messages of an order, sent in another order, as after a change of priorities.
//
// Functions are pure and thread-safe. Messages count from zero in issue order. A plan's message in
// halves is two messages of an order (messagesOf()).
#pragma once

#include "passes/problem/OrderProblem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::explain {

/// The order's messages in the order that `places` lists, each as early as its gradients and the
/// channel allow. Preconditions: the order is valid for the problem, and `places` lists each of its
/// messages once, second halves behind their first ones.
problem::OrderSolution reordered(const problem::OrderProblem &problem,
                                 const problem::OrderSolution &order,
                                 std::span<const std::size_t> places);

/// The places of the order's messages where each of `chosen`, messages of the plan, takes the
/// channel before all that start once it is ready, and its second half does not wait for other
/// messages. All others keep their order. Preconditions: the plan is that of the order, which is
/// valid; `chosen` ascends.
std::vector<std::size_t> raised(const problem::Solution &plan, const problem::OrderSolution &order,
                                std::span<const std::size_t> chosen);

/// The places of the order's messages where those of `chosen`, messages of the plan, follow all
/// others. Preconditions: the order is valid; `chosen` ascends.
std::vector<std::size_t> lowered(const problem::OrderSolution &order,
                                 std::span<const std::size_t> chosen);

} // namespace syncline::explain
