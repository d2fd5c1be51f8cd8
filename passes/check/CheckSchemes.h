// Checks that a problem belongs to the cluster, or the trace, beside it.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "passes/problem/Problem.h"

namespace syncline::check {

/// Rule S14. Fails, with a diagnostic at the problem, unless
///   - every merge class and every factor option is one that the cluster offers, with its cost, its
///     traffic and its limits (numbers may differ by rounding);
///   - a merge class holds the schemes that all gradients may share, or one requested scheme;
///   - a layer may use all shared classes, unless `requested` restricts it;
///   - every pattern of `requested` matches a layer.
/// A reduce-scatter may take longer by the updates of the layers that are requested to use it, but
/// no longer where a step, a program or a trace stands beside the problem.
/// `problem` is what `op` states.
mlir::LogicalResult checkSchemes(sync::ProblemOp op, const problem::Problem &problem,
                                 cluster::SpecAttr spec);

/// Rule S15. Fails, with a diagnostic at the problem, unless gradients, sizes, all times, merge
/// classes, factor options, piggybacks and the classes that each layer may use are the trace's on
/// the cluster, with the requested schemes. Precondition: checkSchemes accepted the problem.
mlir::LogicalResult checkTrace(sync::ProblemOp op, const problem::Problem &problem,
                               sync::TraceOp trace, cluster::SpecAttr spec);

} // namespace syncline::check
