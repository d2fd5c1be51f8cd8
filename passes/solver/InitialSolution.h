// InitialSolution: a quickly found solution, which the exact search has to beat.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::solver {

using namespace problem;

/// The best of a dozen simple solutions and, where there are several merge classes, of a narrow
/// search that keeps one bucket open. Deterministic. Precondition: the problem is valid and has
/// a layer.
Solution initialSolution(const Problem &problem);

} // namespace syncline::solver
