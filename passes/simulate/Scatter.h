// Scatter: how the length of a rank's computation changes from step to step, as it was recorded.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <vector>

namespace syncline::simulate {

/// Recorded steps of ranks that computed side by side: factors by which their operations took
/// longer than usual, [rank][step]. Empty where nothing was recorded.
struct Scatter {
  std::vector<std::vector<double>> factors;

  bool isEmpty() const { return factors.empty(); }
  /// The number of recorded steps.
  int steps() const;
  /// The factor of a rank in a step. So many ranks as were recorded go through the recorded steps
  /// together, over and over again. The others do so in groups of as many, and each group begins at
  /// another recorded step, drawn anew (by `seed`) each time it has been through all. 1 where
  /// nothing was recorded.
  double of(int rank, int step, std::uint64_t seed) const;
  /// The mean of the slowest rank's factor, if each group of ranks meets any recorded step with
  /// equal probability. 1 where nothing was recorded.
  double slowest(int ranks) const;
};

/// Returns badInput unless every rank has as many factors, at least one, and all are above 0 and at
/// most 1000.
Status validate(const Scatter &scatter);

} // namespace syncline::simulate
