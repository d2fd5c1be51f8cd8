// Why one gradient travels as it does: what the other schemes would have cost, what a rule of thumb
// would say, and where the choice changes.
#pragma once

#include "passes/explain/Explanation.h"
#include "passes/merge/PlannedProblem.h"

#include <cstdint>
#include <optional>
#include <string>

namespace syncline::explain {

/// Explains the scheme of gradient `layer` (from zero, in backward order) in `plan`, which
/// `planner` made of `problem.asPlanned()`. `samples` per rank where known. At other bandwidths,
/// batches and numbers of nodes the same planner plans anew; a scheme has changed for the optimal
/// planner only where the old one would end later. Internal where the planner's name is unknown.
/// Time: tens of searches.
Result<Explanation> explain(const merge::PlannedProblem &problem, const problem::Solution &plan,
                            const std::string &planner, std::size_t layer,
                            std::optional<std::int64_t> samples);

} // namespace syncline::explain
