// Explains why one gradient uses its scheme: what the other schemes would have cost, what
// Poseidon's rule would choose, and where the choice changes. In a plan with an order, explains
// when it travels.
#pragma once

#include "passes/explain/Explanation.h"
#include "passes/explain/OrderExplanation.h"
#include "passes/merge/PlannedModule.h"

#include <cstdint>
#include <optional>
#include <string>

namespace syncline::explain {

/// Explains the scheme of gradient `layer` (from zero, in backward order) in `plan`, which
/// `planner` made of `problem.asPlanned()`. `samples` are those per rank, where known. At other
/// bandwidths, batches and numbers of nodes the same planner plans again; for the optimal planner a
/// scheme counts as changed only where the planned one would end later. Returns an internal error
/// where the planner's name is unknown. Time: tens of searches.
Result<Explanation> explain(const merge::PlannedProblem &problem, const problem::Solution &plan,
                            const std::string &planner, std::size_t layer,
                            std::optional<std::int64_t> samples);

/// Explains when gradient `layer` travels. Precondition: the planned problem has `tails`.
OrderExplanation explainOrder(const merge::PlannedModule &planned, std::size_t layer);

} // namespace syncline::explain
