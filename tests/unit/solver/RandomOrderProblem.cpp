// Random forward passes.
#include "tests/unit/solver/RandomOrderProblem.h"

#include "tests/reference/solver/ExhaustiveSearch.h"
#include "tests/reference/solver/OrderReference.h"

#include <algorithm>

namespace syncline::solver {

OrderProblem randomOrderProblem(Random &random, Problem sync, bool mayJump) {
  OrderProblem problem;
  problem.sync = std::move(sync);
  const std::size_t n = problem.sync.layers.size();
  const double pace = random.between(0, 1) * problem.sync.computeFree / static_cast<double>(n + 1);
  const double updating = mayJump ? 0 : random.between(0, pace);
  for (std::size_t k = 0; k < n; ++k) {
    problem.forward += random.between(0, 2 * pace);
    problem.tail.push_back(problem.forward);
    problem.update.push_back(random.between(0, updating));
    problem.forward += problem.update.back();
  }
  if (mayJump)
    for (std::size_t k = 0; k + 1 < n; ++k)
      if (random.below(4) == 0)
        problem.tail[k] =
            problem
                .tail[k + 1 +
                      static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n - k - 1)))];
  problem.forward += random.between(0, pace);
  return problem;
}

OrderProblem smallOrderProblem(std::uint64_t seed, std::size_t parts) {
  for (Random random(seed);; ++seed) {
    Problem sync =
        randomSmallProblem(1 + static_cast<std::uint64_t>(random.below(1 << 30)), 3, 1000);
    OrderProblem problem = randomOrderProblem(random, std::move(sync), random.below(3) == 0);
    std::int64_t largest = 1;
    for (const Layer &layer : problem.sync.layers)
      largest = std::max(largest, layer.bytes);
    problem.grain = largest / (1 + random.below(3)) + 1;
    if (validate(problem).isOk() && reference::countParts(problem) <= parts)
      return problem;
  }
}

} // namespace syncline::solver
