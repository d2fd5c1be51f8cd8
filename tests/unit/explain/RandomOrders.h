// Planned orders of random problems with updates, several merge classes, factors and piggybacks.
#pragma once

#include "passes/solver/OrderPlanner.h"
#include "passes/solver/Planner.h"
#include "tests/unit/solver/RandomOrderProblem.h"

#include <map>
#include <utility>
#include <vector>

namespace syncline::explain {

struct RandomOrder {
  problem::OrderProblem problem;
  problem::OrderSolution solution; ///< by the optimal planner
};

inline RandomOrder randomOrder(std::uint64_t seed) {
  solver::Random random(seed);
  RandomOrder order;
  order.problem = solver::randomOrderProblem(random, solver::randomSmallProblem(seed, 12, 1 << 30),
                                             seed % 3 == 0);
  order.solution = solver::planOrder(order.problem, **solver::parsePlanner("optimal"))->solution;
  return order;
}

/// For each message of messagesOf(solution), the index in solution.messages of the one that brings
/// its gradients: of two halves, the second.
inline std::vector<std::size_t> bringing(const problem::OrderSolution &solution) {
  std::vector<std::size_t> messages;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> halved; // by class and first byte
  for (std::size_t p = 0; p < solution.messages.size(); ++p) {
    const problem::OrderMessage &message = solution.messages[p];
    if (message.half == problem::Half::second) {
      messages[halved.at({message.index, message.begin})] = p;
      continue;
    }
    if (message.half == problem::Half::first)
      halved[{message.index, message.begin}] = messages.size();
    messages.push_back(p);
  }
  return messages;
}

} // namespace syncline::explain
