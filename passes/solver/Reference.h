// Reference: slow algorithms that are obviously right. They judge the fast ones in tests and are
// not used for planning.
#pragma once

#include "passes/solver/MergeProblem.h"

#include <vector>

namespace syncline::solver {

/// The best of all 2^(n-1) groupings, each replayed; of equals the one with fewest groups.
/// Precondition: valid, at most 24 layers.
Solution exhaustiveMerge(const MergeProblem &problem);

/// f as it is defined, every i for every j: n^2/2 calls of the cost. Precondition: valid.
std::vector<double> plainFinishTimes(const MergeProblem &problem);

} // namespace syncline::solver
