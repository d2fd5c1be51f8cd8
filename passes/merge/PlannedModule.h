// PlannedModule: a module that `compile` wrote, with its problem and its solution read.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/merge/PlannedProblem.h"
#include "passes/problem/Problem.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <optional>

namespace syncline::merge {

/// It refers to operations and attributes of the module, which must outlive it.
struct PlannedModule {
  sync::ProblemOp problemOp;
  sync::SolutionOp solutionOp;
  PlannedProblem problem;     ///< what problemOp states, on the module's cluster
  problem::Solution solution; ///< what solutionOp states; the judge has accepted it
  /// Samples per rank: the batch of a module's program, or the K of a trace where all its fully
  /// connected layers have the same.
  std::optional<std::int64_t> samples;
};

/// Reads a planned module. Returns badInput where the module has no problem, solution or cluster,
/// or the judge refuses the solution; emits a diagnostic where the problem is not valid.
Result<PlannedModule> readPlannedModule(mlir::ModuleOp module);

} // namespace syncline::merge
