// Reads a plan's program as a scenario.
#pragma once

#include "ir/plan/Plan.h"
#include "passes/simulate/Scenario.h"

namespace syncline::simulate {

/// The program's operations one by one, each with its `seconds` (0 where absent), and its buckets
/// as messages without costs, bucket N as message N. Machines are not set. validate() refuses an
/// operation that names a bucket that does not exist.
Scenario readProgram(plan::ProgramOp program);

} // namespace syncline::simulate
