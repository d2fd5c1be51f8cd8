// MergeProblem: which gradients travel together, in one in-order channel: the problem that merging
// alone poses (see plainProblem in joint/Problem.h), and the certificate of its bound;
// README.md has the mathematics.
//
// Nothing here searches or judges: see FinishTimes.h, Coarsen.h and ComparisonPlanners.h for
// algorithms and MergeChecker.h for the judge.
#pragma once

#include "passes/problem/CollectiveCost.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace syncline::problem {

/// One gradient. Layers stand in backward order, so ready times ascend.
struct MergeLayer {
  std::int64_t bytes = 0;
  double ready = 0; ///< seconds from the start of the step
};

/// Sound when the Problem it is a view of is valid. Copyable; costs are shared and immutable.
/// Thread-safe to read.
struct MergeProblem {
  std::vector<MergeLayer> layers;
  std::vector<SchemeOption> options;

  /// The fastest option for so many bytes; the first of equals. Precondition: there is an option.
  std::size_t bestOption(std::int64_t bytes) const;
  /// Its time in seconds: T(bytes) = min over options.
  double seconds(std::int64_t bytes) const;
  /// Entry k is the bytes of the first k layers; one entry more than there are layers.
  std::vector<std::int64_t> prefixBytes() const;
};

/// Proof that no grouping ends before earliestFinish.back(): entry j is the earliest time at which
/// the first j layers can be synchronised. Entry 0 is 0.
struct MergeCertificate {
  std::vector<double> earliestFinish;
};

} // namespace syncline::problem
