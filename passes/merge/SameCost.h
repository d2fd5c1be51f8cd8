// Whether attributes of problems state the same, up to rounding: another machine may round
// otherwise.
#pragma once

#include "ir/sync/Sync.h"

namespace syncline {

/// By more than 1e-9 of the larger. What is not finite differs from everything, itself too: no plan
/// may promise it.
bool differ(double a, double b);

bool isSameCost(mlir::Attribute a, mlir::Attribute b);
/// Whether both are there, with the same scheme, cost and traffic.
bool isSameOption(sync::OptionAttr a, sync::OptionAttr b);
/// Whether they have the same options in the same order, and the same limits.
bool isSameLane(sync::LaneAttr a, sync::LaneAttr b);

} // namespace syncline
