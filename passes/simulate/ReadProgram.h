// A plan's program as a scenario.
#pragma once

#include "ir/plan/Plan.h"
#include "passes/simulate/Scenario.h"

namespace syncline::simulate {

/// The program's operations one by one, and its buckets as messages without costs; machines are
/// left alone. `updates` seconds in all are shared out over the updates by their buckets' bytes.
/// What names a bucket that there is not is refused by validate().
Scenario readProgram(plan::ProgramOp program, double updates);

} // namespace syncline::simulate
