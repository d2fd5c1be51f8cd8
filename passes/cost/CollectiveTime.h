// From cluster attributes to the cost functions that solver and checker use.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/problem/CollectiveCost.h"

#include <memory>

namespace syncline::cost {

/// The time of a collective as #cluster.formula, #cluster.affine or #cluster.table gives it.
/// badInput for any other attribute.
Result<std::shared_ptr<const problem::CollectiveCost>> collectiveTime(mlir::Attribute cost);

/// The inverse, plus `secondsPerByte` more for every byte: #cluster.affine where the cost is one
/// line, else a #cluster.table of the ends of its straight pieces. Exact up to the rounding of the
/// last piece's slope. Preconditions: the cost has straight pieces, the last of which does not
/// fall; secondsPerByte >= 0.
mlir::Attribute costAttr(mlir::MLIRContext *context, const problem::CollectiveCost &cost,
                         double secondsPerByte = 0);

/// Seconds per byte of a large message that `whole` takes besides `collective`, at least 0: where
/// both are of a reduce-scatter, what its message takes to update a rank's shard.
double extraPerByte(const problem::CollectiveCost &whole,
                    const problem::CollectiveCost &collective);

} // namespace syncline::cost
