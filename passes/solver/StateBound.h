// StateBound: which partial plans can still finish before a target time, by relaxation (README.md,
// "The bound").
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// Relaxations worth trying: lines that touch the merge classes' costs from below at large, medium
/// and small messages; where reconstruction costs time, also weights between the channel and the
/// device, one of them the weight that bounds best from the start. Precondition: valid.
std::vector<Relaxation> chooseRelaxations(const Problem &problem);

/// Immutable, thread-safe.
class StateBound {
public:
  /// Linear time. Precondition: the problem is valid, the relaxations' lines lie under its costs.
  StateBound(const Problem &problem, std::span<const Relaxation> relaxations, double target);

  /// No plan that passes through `state` after k layers finishes before target - slack. Negative
  /// infinity where no plan that does can finish before the target at all.
  double slack(const PlanState &state, std::size_t k) const;

  /// Whether the slack is more than rounding.
  bool isViable(double slack) const { return slack > 1e-12 * target; }

private:
  void fill(const Problem &problem, std::size_t relaxation);
  /// Which entry after k layers stands for these open merge classes and this freedom.
  std::size_t entry(std::size_t k, std::size_t open, std::uint64_t freedom) const {
    return (k * masks + open) * freedoms + (freedom & (freedoms - 1));
  }

  std::vector<Relaxation> relaxations;
  double target;
  PairBits pairs;
  std::size_t masks; ///< sets of open merge classes
  std::size_t
      freedoms; ///< 2 where one bit says all about pairs; else 1, and piggybacks always may ride
  std::size_t mergeClassCount;
  std::size_t limited; ///< the merge class with a capacity; maxLanes where there is none
  /// Per relaxation and entry: the most that weighted time and committed
  /// work may come to.
  std::vector<std::vector<double>> latest;
};

} // namespace syncline::solver
