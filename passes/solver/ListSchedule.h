// ListSchedule: whenever the channel is free, it sends what the next forward pass needs first among
// what is ready (README.md, "List scheduling").
#pragma once

#include "passes/problem/OrderProblem.h"

#include <span>

namespace syncline::solver {

using namespace problem;

/// Whether buckets by reduce-scatter travel in halves, and when second halves travel.
enum class Halves {
  none,
  behind,  ///< when all that first halves and other messages carry has travelled
  between, ///< also when nothing else is ready
};

/// How many bytes a message takes: `chunk`, or with a target as many as can travel without making
/// the period longer than the target, and `chunk` at least.
struct MessageSize {
  std::int64_t chunk = 0; ///< bytes, at least 1
  double target = 0;      ///< seconds; 0 for no target
  /// Seconds by which a message ends earlier than the target asks, for the latencies of the
  /// messages behind it.
  double reserve = 0;
  /// With a target: the channel waits where any message would be too long.
  bool waits = false;
  /// Second halves travel in the order in which the next forward pass needs them.
  Halves halves = Halves::none;
};

/// The solution in which each message takes the gradient with the longest tail among those that are
/// ready, from its first byte that has not travelled, and neighbours behind it that are ready too,
/// up to the size's bytes and its class's largest message. A rest below a quarter of the size goes
/// with it where the class allows. O((n + messages) log n). Deterministic. Preconditions: the
/// problem is valid, and the ways are allowed.
OrderSolution listSchedule(const OrderProblem &problem, std::span<const Way> ways,
                           const MessageSize &size);

/// The period that follows from when messages end: the next forward pass in order, each reader
/// after its gradient has arrived and, where factors travelled, after its reconstruction.
double periodOf(const OrderProblem &problem, const OrderSolution &solution);

} // namespace syncline::solver
