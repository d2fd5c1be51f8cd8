// Judges whether a problem speaks of the cluster, or the trace, beside it.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"

namespace syncline {

/// S14: every merge class and every way to travel alone is one that the cluster offers, with its
/// cost, its traffic and its limits. A merge class is what all gradients may share, or one scheme
/// that was asked for; a layer may take all that are shared, unless `requested` restricts it; every
/// pattern of `requested` means a layer. A reduce-scatter may take longer by the updates of those
/// that are requested to go by it, and no longer where a step, a program or a trace stands beside
/// the problem. Numbers may differ by rounding. A diagnostic at the problem otherwise.
mlir::LogicalResult checkSchemes(sync::ProblemOp problem, cluster::SpecAttr spec);

/// S15: gradients, their sizes, all times, merge classes, and every layer's merge classes, factor
/// options and piggybacks are the trace's on the cluster, with the schemes requested. Precondition:
/// checkSchemes accepted the problem.
mlir::LogicalResult checkTrace(sync::ProblemOp problem, sync::TraceOp trace,
                               cluster::SpecAttr spec);

} // namespace syncline
