// OrderMoves: a random local search that moves, cuts and joins the messages of an order
// (README.md, "List scheduling").
#pragma once

#include "passes/solver/ListSchedule.h"

namespace syncline::solver {

/// A message counts as this part of the period.
inline constexpr double messagePrice = 1e-5;

/// The period, a little longer for every message: handing one over costs the device some time
/// that the problem leaves out.
inline double priceOf(const OrderSolution &solution) {
  return solution.period * (1 + messagePrice * static_cast<double>(solution.messages.size()));
}

/// How far a random search goes.
struct SearchEffort {
  std::size_t trials = 0; ///< changes
  std::uint64_t seed = 0;
  bool inHalves = false; ///< whether messages may begin to travel in halves
};

/// The cheapest order, by priceOf(), that changes of one or two messages lead to, one after the
/// other: a message moves, is cut, joined with its neighbour in memory, exchanges bytes with it, or
/// travels in halves or whole. A change that makes the order a little dearer is kept too, rarely
/// towards the end. Gradients travel in the ways of `schedules`. Random, but the same effort has
/// the same result. Precondition: `start` is valid and travels in these ways.
OrderSolution searchAround(const Schedules &schedules, OrderSolution start,
                           const SearchEffort &effort);

} // namespace syncline::solver
