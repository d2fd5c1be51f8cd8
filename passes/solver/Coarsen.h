// Coarsen: of the plans that finish earliest, one with few groups.
#pragma once

#include "passes/problem/MergeProblem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// From the last group back, each group takes as many layers as it can without ending later than it
/// may. Returns the ends of the groups (see choicesOfGroups); their replay finishes at
/// earliestFinish.back(), or later by 1e-13 of it where sums round differently. Fewest groups
/// possible where the cost is affine (proof in README.md) and there are at most 4,096 layers;
/// elsewhere few, and the same for the same input. Precondition: `earliestFinish` is
/// earliestFinishTimes(problem).
std::vector<std::size_t> coarsestGroups(const MergeProblem &problem,
                                        std::span<const double> earliestFinish);

} // namespace syncline::solver
