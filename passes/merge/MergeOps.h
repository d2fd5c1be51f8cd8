// Converts problems and solutions between operations of sync and structs of the solver.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/solver/Planner.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace syncline {

/// Whether a cluster's devices count as GPUs: NCCL carries the messages, or a rank's device
/// computes at least 1 TFLOP/s. Every GPU in the kinds of cluster files does; a processor's
/// thread, which is what a rank has on CPUs, does not. Only planners that imitate other systems
/// depend on it.
bool hasGpus(cluster::SpecAttr spec);

/// The problem that the operation states. Layers, merge classes and factor options keep the
/// operation's order. Fails, with a diagnostic at the operation, where the problem is not valid.
mlir::FailureOr<problem::Problem> toProblem(sync::ProblemOp op);

/// The solution that the operation claims, which a checker has yet to judge. Messages take merge
/// class, times and bytes from the operation. A scheme that the merge class or the layer does not
/// offer becomes an option that does not exist. The ends of channel and device are computed from
/// the messages, since the text leaves them out. Precondition: `problem` is the one that the
/// solution answers.
mlir::FailureOr<problem::Solution> toPlan(sync::SolutionOp op, const problem::Problem &problem);

/// The certificate with the bound that it claims to prove; nothing where there is none.
std::optional<problem::BoundProof> toProof(sync::SolutionOp op);

/// Writes a planner's solution, with the certificate that proves its bound, at the builder's place.
sync::SolutionOp createSolution(mlir::OpBuilder &builder, sync::ProblemOp op,
                                const problem::Problem &problem, llvm::StringRef planner,
                                const solver::PlanResult &result);

/// Seconds as an attribute.
sync::TimesAttr timesAttr(mlir::OpBuilder &builder, llvm::ArrayRef<double> seconds);

/// The problem that a solution answers; a diagnostic at the solution when no problem has that name.
mlir::FailureOr<sync::ProblemOp> problemOf(sync::SolutionOp op);

/// Samples per rank: the batch of a module's plan, or the K of a trace where all its fully
/// connected layers have the same.
std::optional<std::int64_t> samplesOf(mlir::ModuleOp module);

} // namespace syncline
