// Reads the operations of a step from its tables.
#pragma once

#include "syncline/Step.h"

namespace syncline::core {

/// Calls the builder's method for each operation of the tables, in their rows' order. `tensors` has
/// what StepBuilder::tensor() gave, by the rows' numbers. Every builder's operations() calls it.
/// StepTables.h does not have it, because each step would compile it anew: up to half of its time.
void appendRows(StepBuilder &builder, const StepTables &tables, std::span<const Tensor> tensors);

} // namespace syncline::core
