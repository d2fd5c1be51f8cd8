// Whether attributes of problems state the same, up to rounding: another machine may round
// otherwise.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/problem/Rounding.h"

namespace syncline {

using problem::differ;

bool isSameCost(mlir::Attribute a, mlir::Attribute b);
/// Whether both are there, with the same scheme, cost and traffic.
bool isSameOption(sync::OptionAttr a, sync::OptionAttr b);
/// Whether they have the same options in the same order, and the same limits.
bool isSameMergeClass(sync::MergeClassAttr a, sync::MergeClassAttr b);

} // namespace syncline
