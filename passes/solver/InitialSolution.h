// InitialSolution: a plan found quickly, for the exact search to beat.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::solver {

using namespace problem;

/// The best of a dozen plain plans, and where there are several merge classes, of a narrow search
/// that keeps one bucket open at a time. Deterministic. Precondition: valid, at least one layer.
Solution initialSolution(const Problem &problem);

} // namespace syncline::solver
