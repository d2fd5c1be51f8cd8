// FinishTimes: the array f of README.md, f(j) = min over i < j of max(f(i), r_j) + T(i+1..j).
#pragma once

#include "passes/problem/MergeProblem.h"

#include <vector>

namespace syncline::solver {

using namespace problem;

/// The earliest finish times: entry j is the earliest time at which the first j layers can be
/// synchronised. Exact for any cost up to rounding; every entry has the bits of max(f(i), r_j) + T
/// for some i.
///
/// Time: O(n K log n) for K straight pieces in all. Precondition: the problem is valid.
std::vector<double> earliestFinishTimes(const MergeProblem &problem);

} // namespace syncline::solver
