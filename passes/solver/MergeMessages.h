// MergeMessages: of plans that finish equally early, one with fewer messages.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::solver {

/// Merges neighbouring buckets of a lane, last ones first, wherever the plan then still ends by
/// `deadline` (up to 1e-13 of it) and keeps to the lane's limit. Schemes stay. Each merge looks
/// only at the messages after the earlier bucket. Precondition: the plan is one that replay made,
/// and ends by the deadline.
JointPlan mergeMessages(const JointProblem &problem, JointPlan plan, double deadline);

} // namespace syncline::solver
