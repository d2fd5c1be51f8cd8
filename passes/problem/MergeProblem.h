// MergeProblem: the problem of merging alone, where the only question is which gradients share a
// message on one in-order channel (see plainProblem in Problem.h), and the certificate of its
// bound. README.md has the mathematics.
//
// This file neither searches nor judges: FinishTimes.h, Coarsen.h and ComparisonPlanners.cpp hold
// the algorithms, MergeChecker.h the judge.
#pragma once

#include "passes/problem/CollectiveCost.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace syncline::problem {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// One gradient. Layers stand in backward order, so ready times ascend.
struct MergeLayer {
  std::int64_t bytes = 0;
  double ready = 0; ///< seconds from the start of the step
};

/// A view of a Problem, valid when that problem is. Copyable; costs are shared and immutable.
/// Thread-safe to read.
struct MergeProblem {
  std::vector<MergeLayer> layers;
  std::vector<SchemeOption> options;

  /// The index of the fastest option for `bytes`; the first wins a tie. Precondition: there is
  /// an option.
  std::size_t bestOption(std::int64_t bytes) const { return fastestOption(options, bytes); }
  /// The fastest option's time in seconds: T(bytes) = min over options.
  double seconds(std::int64_t bytes) const {
    return options[bestOption(bytes)].cost->seconds(bytes);
  }
  /// Sums of bytes: entry k holds the bytes of the first k layers, k = 0..n.
  std::vector<std::int64_t> prefixBytes() const {
    std::vector<std::int64_t> prefix{0};
    prefix.reserve(layers.size() + 1);
    for (const MergeLayer &layer : layers)
      prefix.push_back(prefix.back() + layer.bytes);
    return prefix;
  }
};

/// Proof that no grouping ends before earliestFinish.back(): entry j is the earliest time at which
/// the first j layers can be synchronised. Entry 0 is 0.
struct MergeCertificate {
  std::vector<double> earliestFinish;
};

} // namespace syncline::problem
