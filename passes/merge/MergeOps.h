// Between sync's problems and solutions as operations and the solver's as structs.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/solver/Planner.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace syncline {

/// Whether a cluster's devices are taken for GPUs: NCCL carries the messages, or a rank's device
/// computes at least 1 TFLOP/s, as every GPU in the kinds of cluster files does and no processor's
/// thread, which is what a rank has on CPUs. Other systems' planners depend on it, nothing else.
bool hasGpus(cluster::SpecAttr spec);

/// The instance that the operation states; a diagnostic at it where it is not a valid one. Layers,
/// merge classes and factor options stand in the operation's order; a layer's factor options in the
/// order of `factor_options`.
mlir::FailureOr<problem::Problem> toProblem(sync::ProblemOp op);

/// The claimed plan, for a checker to judge: nothing is judged here. Messages take merge class,
/// times and bytes from the operation; a scheme that merge class or layer does not offer becomes an
/// option that does not exist. The ends of channel and device, which the text leaves out, are those
/// of the messages. Precondition: `problem` is the one that the solution answers.
mlir::FailureOr<problem::Solution> toPlan(sync::SolutionOp op, const problem::Problem &problem);

/// The certificate with the bound that it is claimed to prove; nothing where there is none.
std::optional<problem::BoundProof> toProof(sync::SolutionOp op);

/// Writes a planner's answer and its certificate, which proves the bound whichever planner it is,
/// at the builder's place.
sync::SolutionOp createSolution(mlir::OpBuilder &builder, sync::ProblemOp op,
                                const problem::Problem &problem, llvm::StringRef planner,
                                const solver::PlanResult &result);

/// Seconds as an attribute.
sync::TimesAttr timesAttr(mlir::OpBuilder &builder, llvm::ArrayRef<double> seconds);

/// The problem a solution answers; a diagnostic at the solution when there is none of that name.
mlir::FailureOr<sync::ProblemOp> problemOf(sync::SolutionOp op);

/// Samples a rank, of a module with a plan; of one with a trace K, where its fully connected layers
/// agree on it.
std::optional<std::int64_t> samplesOf(mlir::ModuleOp module);

} // namespace syncline
