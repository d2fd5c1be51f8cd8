// MergeProblem: which gradients travel together, in one in-order channel. The problem, what a
// solution is and the certificate that proves it optimal; README.md has the mathematics.
//
// Nothing here searches or judges: see Merge.h and Planner.h for algorithms, Replay.h for the clock
// that times a grouping and MergeChecker.h for the judge.
#pragma once

#include "passes/solver/CollectiveCost.h"
#include "syncline/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace syncline::solver {

/// One gradient. Layers stand in backward order, so ready times ascend.
struct Layer {
  std::int64_t bytes = 0;
  double ready = 0; ///< seconds from the start of the step
};

/// Copyable; costs are shared and immutable. Thread-safe to read.
struct MergeProblem {
  std::vector<Layer> layers;
  std::vector<SchemeOption> options;

  /// The fastest option for so many bytes; the first of equals. Precondition: there is an option.
  std::size_t bestOption(std::int64_t bytes) const;
  /// Its time in seconds: T(bytes) = min over options.
  double seconds(std::int64_t bytes) const;
  /// Entry k is the bytes of the first k layers; one entry more than there are layers.
  std::vector<std::int64_t> prefixBytes() const;
};

/// badInput unless there is an option, each has a cost, bytes are >= 0 and their sum is below 2^53
/// (so that doubles count them exactly), ready times are finite, >= 0 and ascending. Messages count
/// layers from 1, in backward order. A problem without layers is valid; its only plan is empty.
Status validate(const MergeProblem &problem);

/// Layers [firstLayer, firstLayer + layerCount) as one message.
struct Group {
  std::size_t firstLayer = 0;
  std::size_t layerCount = 0;
  std::int64_t bytes = 0;
  std::size_t option = 0; ///< index into MergeProblem::options
  double ready = 0;       ///< when its last member is ready, seconds
  double start = 0;       ///< when it takes the channel
  double end = 0;         ///< when it frees the channel
};

/// Groups in issue order, and when the last one ends.
struct Solution {
  std::vector<Group> groups;
  double finish = 0;
};

/// Proof that no grouping ends before earliestFinish.back(): entry j is the earliest time at which
/// the first j layers can be synchronised. Entry 0 is 0.
struct Certificate {
  std::vector<double> earliestFinish;
};

} // namespace syncline::solver
