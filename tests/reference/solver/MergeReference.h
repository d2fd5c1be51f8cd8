// Reference: slow algorithms that are obviously right. They judge the fast ones in tests and are
// not used for planning.
#pragma once

#include "passes/problem/MergeProblem.h"
#include "passes/problem/Rounding.h"
#include "passes/proof/MergeChecker.h"

#include <optional>
#include <span>
#include <vector>

namespace syncline::reference {

using namespace problem;

/// When the last of these messages ends: group g ends before layer ends[g], each message starts as
/// soon as its last member is ready and the channel is free.
double finishOf(const MergeProblem &problem, std::span<const std::size_t> ends);

/// The least finish of all 2^(n-1) groupings, and the fewest groups that reach it up to 1e-13.
/// Precondition: valid, at least one layer, at most 24.
struct BestGrouping {
  double finish = 0;
  std::size_t groups = 0;
};
BestGrouping exhaustiveMerge(const MergeProblem &problem);

/// f as it is defined, every i for every j: n^2/2 calls of the cost. Precondition: valid.
std::vector<double> plainFinishTimes(const MergeProblem &problem);

/// The judge of MergeChecker.h as its rules are written, every i for every j: n^2/2 calls of the
/// cost. `part` is the tolerance of rule M23. Precondition: valid.
std::optional<proof::MergeRejection> checkEveryPair(const MergeProblem &problem,
                                                    std::span<const double> finish,
                                                    double part = replayRounding);

} // namespace syncline::reference
