// Writes problems and solutions: from the structs of passes/problem to operations of sync.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/merge/Instance.h"
#include "passes/problem/OrderProblem.h"

#include "mlir/IR/Builders.h"

namespace syncline::merge {

/// Writes an instance at the builder's place; `requested` are the schemes requested by name, as the
/// user wrote them. With `hasTails` its solutions are orders. From the operation toProblem reads an
/// equal problem.
sync::ProblemOp createProblem(mlir::OpBuilder &builder, mlir::Location place,
                              const Instance &instance, llvm::ArrayRef<llvm::StringRef> requested,
                              bool hasTails);

/// Writes a planner's solution, with the proof of its bound, at the builder's place.
sync::SolutionOp createSolution(mlir::OpBuilder &builder, sync::ProblemOp op,
                                const problem::Problem &problem, llvm::StringRef planner,
                                const problem::Solution &solution, const problem::BoundProof &proof,
                                double bound);

/// As above, for the messages of an order.
sync::SolutionOp createSolution(mlir::OpBuilder &builder, sync::ProblemOp op,
                                const problem::Problem &problem, llvm::StringRef planner,
                                const problem::Solution &messages,
                                const problem::OrderCertificate &certificate);

/// Lets the solution's messages take turns on so many channels. Precondition: channels >= 1.
void takeTurns(sync::SolutionOp solution, int channels);

sync::MergeClassAttr mergeClassAttr(mlir::MLIRContext *context,
                                    const problem::MergeClass &mergeClass);
sync::FactorOptionAttr factorOptionAttr(mlir::MLIRContext *context, std::size_t layer,
                                        const problem::FactorOption &option);

} // namespace syncline::merge
