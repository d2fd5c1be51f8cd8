// Reorder: the messages of an order, sent in another order, as after a change of priorities.
//
// Functions are pure and thread-safe. Messages count from zero in issue order.
#pragma once

#include "passes/problem/OrderProblem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::explain {

/// The solution's messages in the order that `order` lists, each as early as its gradients and the
/// channel allow. All-gathers keep their places, as far as their first halves allow. Preconditions:
/// the solution is valid for the problem, and `order` lists each of its messages once.
problem::OrderSolution reordered(const problem::OrderProblem &problem,
                                 const problem::OrderSolution &solution,
                                 std::span<const std::size_t> order);

/// As reordered(), where `order` lists all pieces of the solution, second halves behind first ones.
problem::OrderSolution reorderedPieces(const problem::OrderProblem &problem,
                                       const problem::OrderSolution &solution,
                                       std::span<const std::size_t> order);

/// The order in which each message of `chosen` takes the channel before all that start once it is
/// ready. All other messages keep their order. Precondition: `chosen` ascends.
std::vector<std::size_t> raised(const problem::Solution &messages,
                                std::span<const std::size_t> chosen);

/// The order in which the messages of `chosen` follow all others. Precondition: `chosen` ascends.
std::vector<std::size_t> lowered(const problem::Solution &messages,
                                 std::span<const std::size_t> chosen);

} // namespace syncline::explain
