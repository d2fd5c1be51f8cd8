// A plan's program as a scenario.
#pragma once

#include "ir/plan/Plan.h"
#include "passes/simulate/Scenario.h"

namespace syncline::simulate {

/// The program's operations one by one, each with its `seconds` (none: no time), and its buckets as
/// messages without costs, bucket N as message N; machines are left alone. What names a bucket that
/// there is not is refused by validate().
Scenario readProgram(plan::ProgramOp program);

} // namespace syncline::simulate
