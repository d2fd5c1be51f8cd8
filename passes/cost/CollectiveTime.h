// From cluster attributes to the cost functions that solver and checker use.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/problem/CollectiveCost.h"

#include <memory>

namespace syncline::cost {

/// The cost that a #cluster.formula, #cluster.affine or #cluster.table describes. Returns badInput
/// for any other attribute.
Result<std::shared_ptr<const problem::CollectiveCost>> collectiveTime(mlir::Attribute cost);

/// The attribute of a cost with `secondsPerByte` more for every byte, the inverse of
/// collectiveTime: #cluster.affine where the cost is one line, else a #cluster.table of the ends of
/// its straight pieces. Exact up to the rounding of the last piece's slope. Preconditions: the cost
/// has straight pieces, the last of which does not fall; secondsPerByte >= 0.
mlir::Attribute costAttr(mlir::MLIRContext *context, const problem::CollectiveCost &cost,
                         double secondsPerByte = 0);

/// Seconds per byte, at least 0, that a large message takes by `whole` beyond what it takes by
/// `collective`. For two costs of a reduce-scatter these are the seconds that a rank spends on
/// updating its shard.
double extraPerByte(const problem::CollectiveCost &whole,
                    const problem::CollectiveCost &collective);

} // namespace syncline::cost
