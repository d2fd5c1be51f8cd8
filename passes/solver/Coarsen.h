// Coarsen: picks, among the groupings that finish earliest, one with few groups.
#pragma once

#include "passes/problem/MergeProblem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// Returns the ends of the groups (see choicesOfGroups). From the last group back, each group
/// takes as many layers as it can without ending too late. The replay of these groups finishes
/// at earliestFinish.back(), or later by 1e-13 of it where sums round differently. The number
/// of groups is minimal where the cost is affine (proof in README.md) and there are at most
/// 4,096 layers; otherwise it is small. Deterministic. Precondition: `earliestFinish` is the
/// result of earliestFinishTimes.
std::vector<std::size_t> coarsestGroups(const MergeProblem &problem,
                                        std::span<const double> earliestFinish);

} // namespace syncline::solver
