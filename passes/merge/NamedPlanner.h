// Rule S17: a solution is one that the planner it names could have given.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/problem/Problem.h"

namespace syncline::merge {

/// Fails, with a diagnostic at the solution, where its planner is a rule that gives another
/// solution, or searches and finishes later than a rule without a proof, or allows fewer messages.
/// A solution written by hand must name another planner. The judges in passes/check share no code
/// with the solver, so the one rule that runs planners stands here. Precondition: the solution is
/// valid for the problem.
mlir::LogicalResult checkPlanner(sync::SolutionOp op, const problem::Problem &problem,
                                 const problem::Solution &plan);

} // namespace syncline::merge
