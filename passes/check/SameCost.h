// Compares parts of problems up to rounding, since another machine may round differently.
#pragma once

#include "passes/problem/Problem.h"
#include "passes/problem/Rounding.h"

namespace syncline::check {

using problem::differ;

/// Whether both are lines, tables or the same formula, with the same numbers.
bool isSameCost(const problem::CollectiveCost &a, const problem::CollectiveCost &b);
/// Whether both have the same scheme, cost and traffic, and take the same from computation.
bool isSameOption(const problem::SchemeOption &a, const problem::SchemeOption &b);
/// Whether both have the same options in the same order, and the same limits.
bool isSameMergeClass(const problem::MergeClass &a, const problem::MergeClass &b);
/// Whether both have the same scheme, bytes and reconstruction. Seconds and traffic follow from
/// these bytes.
bool isSameFactorOption(const problem::FactorOption &a, const problem::FactorOption &b);

} // namespace syncline::check
