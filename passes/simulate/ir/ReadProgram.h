// Reads a plan's program as a scenario.
#pragma once

#include "ir/plan/Plan.h"
#include "passes/simulate/Scenario.h"

#include <map>

namespace syncline::simulate {

/// The program's operations one by one, each with its `seconds` (0 where absent), and its buckets
/// as messages without costs, bucket N as message N. Machines are not set. Errors: an operation
/// that names a bucket that does not exist, or comes before another that it needs.
///
/// A bucket in halves is two messages: bucket N's first half is message N, and the second halves
/// stand behind all buckets. A wait for the bucket waits for one half after the other.
Result<Scenario> readProgram(plan::ProgramOp program);

/// The message that is the second half of a bucket, for each bucket in halves, by number.
std::map<std::int64_t, std::size_t> secondHalves(plan::ProgramOp program);

} // namespace syncline::simulate
