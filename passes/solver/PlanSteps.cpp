// What PlanSteps knows before the first step.
#include "passes/solver/PlanSteps.h"

namespace syncline::solver {

PlanSteps::PlanSteps(const JointProblem &problem)
    : problem(problem), pairs(problem), limited(problem.limitedLane().value_or(maxLanes)) {
  for (std::size_t k = 0; k < problem.layers.size(); ++k)
    for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane)
      if (problem.allows(k, lane))
        lastOfLane[lane] = k + 1;
}

PlanState PlanSteps::root() const {
  PlanState state;
  state.free = problem.layers.empty() ? 0 : problem.layers.front().ready;
  state.compute = problem.computeFree;
  return state;
}

} // namespace syncline::solver
