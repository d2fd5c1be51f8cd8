// Prepares PlanSteps for a problem.
#include "passes/solver/PlanSteps.h"

namespace syncline::solver {

PlanSteps::PlanSteps(const Problem &problem)
    : problem(problem), pairs(problem),
      limited(problem.limitedMergeClass().value_or(maxMergeClasses)) {
  for (std::size_t k = 0; k < problem.layers.size(); ++k)
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
      if (problem.allows(k, mergeClass))
        lastOfMergeClass[mergeClass] = k + 1;
}

PlanState PlanSteps::root() const {
  PlanState state;
  state.free = problem.layers.empty() ? 0 : problem.layers.front().ready;
  state.compute = problem.computeFree;
  return state;
}

} // namespace syncline::solver
