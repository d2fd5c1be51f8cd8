// Planned orders of random problems with updates, several merge classes, factors and piggybacks.
#pragma once

#include "passes/solver/OrderPlanner.h"
#include "passes/solver/Planner.h"
#include "tests/unit/solver/RandomOrderProblem.h"

namespace syncline::explain {

struct RandomOrder {
  problem::OrderProblem problem;
  problem::OrderSolution solution; ///< by the optimal planner
};

inline RandomOrder randomOrder(std::uint64_t seed) {
  solver::Random random(seed);
  RandomOrder order;
  order.problem = solver::randomOrderProblem(
      random, solver::randomSmallProblem(seed, 12, 1 << 30, false), seed % 3 == 0);
  order.solution = solver::planOrder(order.problem, **solver::parsePlanner("optimal"))->solution;
  return order;
}

} // namespace syncline::explain
