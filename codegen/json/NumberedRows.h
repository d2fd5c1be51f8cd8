// Which tables' rows an input's values number.
#pragma once

#include "ir/plan/Plan.h"

#include <cstdint>
#include <vector>

namespace syncline::codegen {

/// For each element of a sample of `input`, the rows of the smallest table that its values number,
/// in whichever place they are then; 0 where they number none. Empty where no element does.
std::vector<std::int64_t> numberedRows(plan::TensorOp input, plan::ProgramOp program);

} // namespace syncline::codegen
