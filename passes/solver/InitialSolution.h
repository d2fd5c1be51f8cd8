// StartingPlan: a plan found quickly, for the exact search to beat.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::solver {

/// The best of a dozen plain plans, and where there are several lanes, of a narrow search that
/// keeps one bucket open at a time. Deterministic. Precondition: valid, at least one layer.
JointPlan startingPlan(const JointProblem &problem);

} // namespace syncline::solver
