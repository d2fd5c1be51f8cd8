// Cost attributes, and the cost functions that solver and checker use.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/problem/CollectiveCost.h"

#include <memory>

namespace syncline::cost {

/// The cost that a #cluster.formula, #cluster.affine or #cluster.table describes. Returns badInput
/// for any other attribute.
Result<std::shared_ptr<const problem::CollectiveCost>> collectiveTime(mlir::Attribute cost);

/// The attribute of a cost, from which collectiveTime makes an equal one. Precondition: the cost is
/// a FormulaCost, an AffineCost or a TableCost.
mlir::Attribute costAttr(mlir::MLIRContext *context, const problem::CollectiveCost &cost);

} // namespace syncline::cost
