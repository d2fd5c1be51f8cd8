// From cluster attributes to the cost functions that solver and checker use.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/solver/CollectiveCost.h"

#include <memory>

namespace syncline::cost {

/// The time of a collective as #cluster.formula, #cluster.affine or #cluster.table gives it.
/// badInput for any other attribute.
Result<std::unique_ptr<solver::CollectiveCost>> collectiveTime(mlir::Attribute cost);

} // namespace syncline::cost
