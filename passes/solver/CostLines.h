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

/// The steepest line through the origin under every option's cost up to `most` bytes, in which each
/// byte pays its share of a message.
Relaxation::Line rayUnder(std::span<const SchemeOption> options, std::int64_t most);

/// Sets of lines under every cost up to most[l] bytes, for merge class l. A set touches each
/// class's lower hull at one of the `parts` of most[l]; `withRays` adds rays. Equal neighbours
/// appear once.
std::vector<CostLines> costLines(const Problem &problem,
                                 std::span<const std::int64_t, maxMergeClasses> most,
                                 std::span<const double> parts, bool withRays);

} // namespace syncline::solver
