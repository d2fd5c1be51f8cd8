// MergeMessages: of plans that finish equally early, one with fewer messages.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::solver {

using namespace problem;

/// Merges neighbouring buckets of a merge class, last ones first, wherever the plan then still ends
/// by `deadline` (up to 1e-13 of it) and keeps to the merge class's limit. Schemes stay. Each merge
/// looks only at the messages after the earlier bucket. Precondition: the plan is one that replay
/// made, and ends by the deadline.
Solution mergeMessages(const Problem &problem, Solution plan, double deadline);

} // namespace syncline::solver
