// CostLines: straight lines under the costs of merge classes, from which bounds are made.
#pragma once

#include "passes/problem/Problem.h"

#include <array>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// One line for each merge class.
using CostLines = std::array<Relaxation::Line, maxMergeClasses>;

/// Sets of lines under every cost up to most[l] bytes, for merge class l. A set touches each
/// class's lower hull at one of the `parts` of most[l]; `withRays` adds the steepest lines through
/// the origin, in which each byte pays its share of a message. Equal neighbours appear once.
std::vector<CostLines> costLines(const Problem &problem,
                                 std::span<const std::int64_t, maxMergeClasses> most,
                                 std::span<const double> parts, bool withRays);

} // namespace syncline::solver
