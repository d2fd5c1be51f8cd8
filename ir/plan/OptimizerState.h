// The memory of a program's optimizer.
#pragma once

#include "ir/plan/Plan.h"

namespace syncline::plan {

/// The bytes of optimizer state that a rank holds beside the program's spaces, at most: two moments
/// for each parameter that it updates with Adam, AdamW and LAMB. Of a bucket by reduce-scatter it
/// updates a share. 0 for SGD, whose velocity only runs with momentum have.
std::int64_t optimizerBytes(ProgramOp program);

} // namespace syncline::plan
