// OrderRivals: how other systems order messages under the next forward pass, on the same problem
// and clock, for comparison (README.md, "Orders to compare with"). All gradients go through the
// first merge class, each message by its fastest option and, where a system cuts no finer, cut at
// the class's largest message.
//
// Preconditions of all functions: the problem is valid, usesFirstClass() is ok, and sizes are at
// least 1 B. Pure and thread-safe.
#pragma once

#include "passes/problem/OrderProblem.h"

namespace syncline::solver {

using namespace problem;

/// Returns badInput, naming a layer, where one may not use the first merge class or the class
/// cannot hold them all.
Status usesFirstClass(const OrderProblem &problem);

/// DeAR: whole layers in buckets of at least `size` bytes; the reduce-scatters in ready order, and
/// behind the last one the all-gathers in forward order. Returns badInput where no scheme of the
/// first merge class has halves.
Result<OrderSolution> dearOrder(const OrderProblem &problem, std::int64_t size);

/// P3: slices of one layer, of at most `size` bytes and at least a grain, the layer that is read
/// first before others. TicTac: the same with `unlimited`, for whole layers. In a chain of layers
/// only the first one that is missing lets computation go on, so that TicTac's comparison always
/// prefers the one that is read first. ByteScheduler: slices enter a queue of at most `credit`
/// bytes, in which none overtakes another.
OrderSolution priorityOrder(const OrderProblem &problem, std::int64_t size,
                            std::int64_t credit = 0);

} // namespace syncline::solver
