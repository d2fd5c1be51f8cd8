// FinishTimes: the array f of README.md, f(j) = min over i < j of max(f(i), r_j) + T(i+1..j).
#pragma once

#include "passes/problem/MergeProblem.h"

#include <vector>

namespace syncline::solver {

using namespace problem;

/// Entry j is the earliest time at which the first j layers can be synchronised. Exact for any cost
/// up to rounding; every entry is the bits of max(f(i), r_j) + T for some i.
///
/// With straight pieces for every option: O(n K log n) for K pieces in all. Otherwise O(n^2) calls
/// of the costs. Precondition: the problem is valid.
std::vector<double> earliestFinishTimes(const MergeProblem &problem);

} // namespace syncline::solver
