// JointReference: an exhaustive search that is obviously right. It judges the label search in tests
// and is not used for planning.
#pragma once

#include "passes/problem/Problem.h"

#include <optional>
#include <vector>

namespace syncline::solver {

/// How many choice vectors exhaustiveJoint would look at; saturates at 2^62. Precondition: valid.
std::int64_t countChoices(const JointProblem &problem);

/// Every combination of choices that is sound, replayed: the first of those that finish earliest.
/// Nothing when none is sound. Precondition: valid; time is countChoices() times the layers.
std::optional<JointPlan> exhaustiveJoint(const JointProblem &problem);

} // namespace syncline::solver
