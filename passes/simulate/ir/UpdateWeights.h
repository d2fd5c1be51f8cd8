// How the updates of a step share their time.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace syncline::simulate {

/// Seconds of each gradient's update, by the trace beside the problem or, for a program's updates,
/// by the cost model; they share the problem's time for all updates in this proportion. Empty where
/// neither knows them.
std::vector<double> updateWeightsOf(mlir::ModuleOp module, sync::ProblemOp problem,
                                    cluster::SpecAttr spec);

} // namespace syncline::simulate
