// What every operation of a plan takes, measured step by step.
#pragma once

#include "runtime/run/Plan.h"
#include "runtime/run/trace/StepRecord.h"

#include <span>
#include <string>

namespace syncline {

/// When to stop measuring: the first steps fill caches and pages, and a processor changes its pace.
class Steadiness {
public:
  static constexpr std::size_t warmUp = 3, minSteps = 10, maxSteps = 4000;
  static constexpr double tolerance = 0.01;             ///< of the median
  static constexpr double shortest = 0.5, longest = 60; ///< seconds in all

  /// Counts a step of so many seconds.
  void add(double seconds);
  /// The medians of the first and the second half of what was counted after the warm-up are within
  /// the tolerance of each other.
  bool isSteady() const;
  /// Nothing is left to measure: steady for long enough, or as long as it may take.
  bool isDone() const;

private:
  std::vector<double> seconds; ///< after the warm-up
  std::size_t steps = 0;
  double total = 0;
};

/// Writes JSON, whole or not at all:
///
///     {"schema": 1, "plan": HASH, "name", "ranks", "batch", "steady": true,
///      "steps": [seconds, ...],
///      "operations": [{"name", "layer", "phase", "kind": "compute" | "update", "bytes",
///                      "seconds": [..of each step..]}, ...]}
///
/// without the warm-up's steps. `bytes` is what an update updates. Operations that neither compute
/// nor update are left out; a bucket by "reduce-scatter" is updated when it is issued.
/// Errors: badInput, naming the path.
Status writeOperationTimes(const std::string &path, const Plan &plan, const StepRunner &runner,
                           std::span<const StepRecord> records, bool isSteady);

} // namespace syncline
