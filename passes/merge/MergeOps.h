// Between sync's problems and solutions as operations and the solver's as structs.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/solver/Merge.h"

#include "mlir/IR/Builders.h"

namespace syncline {

/// The instance that the operation states; a diagnostic at it when its cost is none.
mlir::FailureOr<solver::MergeProblem> toMergeProblem(sync::ProblemOp op);

/// The claimed solution: groups take bytes, ready times and schemes from the problem, order and
/// times from the operation. Nothing is judged beyond what is needed to build it (ends within the
/// problem).
mlir::FailureOr<solver::Solution> toSolution(sync::SolutionOp op,
                                             const solver::MergeProblem &problem);

/// Writes a planner's answer and its certificate, which proves the bound whichever planner it is.
sync::SolutionOp createSolution(mlir::OpBuilder &builder, sync::ProblemOp problem,
                                llvm::StringRef planner, const solver::MergeResult &result);

/// Seconds as an attribute.
sync::TimesAttr timesAttr(mlir::OpBuilder &builder, llvm::ArrayRef<double> seconds);

/// The problem a solution answers; a diagnostic at the solution when there is none of that name.
mlir::FailureOr<sync::ProblemOp> problemOf(sync::SolutionOp op);

/// The scheme of a bucket as the solver's and sync's enums name it.
cluster::Scheme toSyncScheme(solver::Scheme scheme);

} // namespace syncline
