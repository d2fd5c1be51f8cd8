// OrderRivals: how other systems order messages under the next forward pass, on the same problem
// and clock, for comparison (README.md, "Orders to compare with"). All gradients go through the
// first merge class, each message by its fastest option and, where a system cuts no finer, cut at
// the class's largest message.
//
// Preconditions of all functions: the problem is valid, every layer may use the first merge class,
// and sizes are at least 1 B. Pure and thread-safe.
#pragma once

#include "passes/problem/OrderProblem.h"

namespace syncline::solver {

using namespace problem;

struct RivalOrder {
  double period = 0; ///< seconds
  std::size_t messages = 0;
};

/// DeAR: buckets of at least `size` bytes; each all-reduce is cut into its two halves. The first
/// halves go in ready order, the second ones behind them in forward order.
RivalOrder dearOrder(const OrderProblem &problem, std::int64_t size);

/// P3: slices of at most `size` bytes of one layer, the layer that is read first before others.
RivalOrder p3Order(const OrderProblem &problem, std::int64_t size);

/// ByteScheduler: slices as P3's; slices enter a queue of at most `credit` bytes, in which none
/// overtakes another.
RivalOrder byteSchedulerOrder(const OrderProblem &problem, std::int64_t size, std::int64_t credit);

/// TicTac: whole layers, the one that is read first before others.
RivalOrder ticTacOrder(const OrderProblem &problem);

} // namespace syncline::solver
