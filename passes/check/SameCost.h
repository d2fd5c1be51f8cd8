// Compares attributes of problems up to rounding, since another machine may round differently.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/problem/Rounding.h"

namespace syncline {

using problem::differ;

bool isSameCost(mlir::Attribute a, mlir::Attribute b);
/// Whether both exist and have the same scheme, cost and traffic.
bool isSameOption(sync::OptionAttr a, sync::OptionAttr b);
/// Whether both have the same options in the same order, and the same limits.
bool isSameMergeClass(sync::MergeClassAttr a, sync::MergeClassAttr b);

} // namespace syncline
