// Measuring the time of every operation of a plan, step by step.
#pragma once

#include "runtime/run/plan/Plan.h"
#include "runtime/run/trace/StepRecord.h"

#include <span>
#include <string>

namespace syncline::run {

/// Decides when to stop measuring. The first steps fill caches and pages, and processors change
/// their clock rate.
class Steadiness {
public:
  static constexpr std::size_t warmUp = 3, minSteps = 10, maxSteps = 4000;
  static constexpr double tolerance = 0.01;           ///< relative to the median
  static constexpr double shortest = 2, longest = 60; ///< seconds in all

  /// Measuring takes at least `atLeast` seconds, warm-up included.
  explicit Steadiness(double atLeast = shortest) : atLeast(atLeast) {}

  /// Adds a step that took `seconds`.
  void add(double seconds);
  /// Whether the medians of the first and the second half of the steps after the warm-up differ by
  /// at most the tolerance.
  bool isSteady() const;
  /// Whether measuring may end: the steps are steady for long enough, or the limits are reached.
  bool isDone() const;

private:
  double atLeast;
  std::vector<double> seconds; ///< after the warm-up
  std::size_t steps = 0;
  double total = 0;
};

/// Writes a JSON file, completely or not at all:
///
///     {"schema": 1, "plan": HASH, "name", "ranks", "batch", "steady": true,
///      "steps": [seconds, ...], "whole": [seconds, ...],
///      "operations": [{"name", "layer", "phase", "kind": "compute" | "update", "kernel",
///                      "bytes", "seconds": [..of each step..]}, ...]}
///
/// The warm-up's steps are left out. `steps` are from the first operation to the last one. `whole`
/// is what a run reports of a step: with the batch, the loss and all else. `bytes` is the size of
/// what an update changes. Operations that neither compute nor update are left out; a bucket by
/// "reduce-scatter" is updated when it is issued. Precondition: `whole` is as long as `records`.
/// Errors: badInput, naming the path.
Status writeOperationTimes(const std::string &path, const Plan &plan,
                           const core::StepRunner &runner, std::span<const StepRecord> records,
                           std::span<const double> whole, bool isSteady);

} // namespace syncline::run
