// MergeMessages: turns a solution into one that finishes as early with fewer messages.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::solver {

using namespace problem;

/// Merges neighbouring buckets of a merge class, last ones first, wherever the solution then still
/// ends by `deadline` (up to 1e-13 of it) and the merged bucket keeps to the class's limit. Schemes
/// stay. The time of each merge is linear in the messages after the earlier bucket. Precondition:
/// `plan` comes from replay and ends by the deadline.
Solution mergeMessages(const Problem &problem, Solution plan, double deadline);

} // namespace syncline::solver
