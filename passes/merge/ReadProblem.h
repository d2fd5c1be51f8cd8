// Reads problems and solutions: from operations of sync to the structs of passes/problem.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/problem/OrderProblem.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace syncline::merge {

/// The problem that the operation states, which need not be valid. Layers, merge classes and factor
/// options keep the operation's order.
problem::Problem statedProblem(sync::ProblemOp op);

/// As statedProblem. Fails, with a diagnostic at the operation, where the problem is not valid.
mlir::FailureOr<problem::Problem> toProblem(sync::ProblemOp op);

/// The order problem of a problem with `tails`; nothing where it has none. Its clock starts with
/// the backward pass. Precondition: `problem` is the one that the operation states, and is valid.
std::optional<problem::OrderProblem> toOrderProblem(sync::ProblemOp op,
                                                    const problem::Problem &problem);

/// The solution that the operation claims, which a checker has yet to judge. Messages take merge
/// class, times and bytes from the operation. A scheme that the merge class or the layer does not
/// offer becomes an option that does not exist. The ends of channel and device are computed from
/// the messages, since the text leaves them out. The device's end stays 0 in an order, of which
/// only the period counts. Precondition: `problem` is the one that the solution answers.
problem::Solution toSolution(sync::SolutionOp op, const problem::Problem &problem);

/// The certificate with the bound that it claims to prove; nothing where there is none.
std::optional<problem::BoundProof> toProof(sync::SolutionOp op);

/// The certificate of an order, with the bound that it claims to prove; nothing where there is no
/// such certificate.
std::optional<problem::OrderCertificate> toOrderProof(sync::SolutionOp op);

/// Judges a claimed solution, or order, of the problem; the reason where it is rejected.
std::optional<std::string> rejectionOf(sync::ProblemOp op, const problem::Problem &problem,
                                       const problem::Solution &solution);

/// The problem that a solution answers; a diagnostic at the solution when no problem has that name.
mlir::FailureOr<sync::ProblemOp> problemOf(sync::SolutionOp op);

} // namespace syncline::merge
