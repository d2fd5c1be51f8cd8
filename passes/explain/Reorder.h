// Reorder: the messages of an order, sent in another order, as after a change of priorities.
//
// Functions are pure and thread-safe. Messages count from zero in issue order,
// and so do pieces, which are whole messages and halves.
#pragma once

#include "passes/problem/OrderProblem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::explain {

/// The solution's pieces in the order that `order` lists, each as early as its gradients and the
/// channel allow. Preconditions: the solution is valid for the problem, and `order` lists each of
/// its pieces once, second halves behind their first ones.
problem::OrderSolution reorderedPieces(const problem::OrderProblem &problem,
                                       const problem::OrderSolution &solution,
                                       std::span<const std::size_t> order);

/// The order of the pieces in which each message of `chosen` takes the channel before all that
/// start once it is ready, and its second half does not wait for other messages. All other pieces
/// keep their order. Preconditions: the messages are those of a valid solution; `chosen` ascends.
std::vector<std::size_t> raised(const problem::Solution &messages,
                                std::span<const std::size_t> chosen);

/// The order of the pieces in which those of the messages of `chosen` follow all others.
/// Preconditions: as above.
std::vector<std::size_t> lowered(const problem::Solution &messages,
                                 std::span<const std::size_t> chosen);

} // namespace syncline::explain
