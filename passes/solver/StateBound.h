// StateBound: which partial solutions can still finish before a target time, by relaxation
// (README.md, "The bound").
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// Chooses relaxations to try: lines that touch the merge classes' costs from below at large,
/// medium and small messages. Where reconstruction costs time there are also weights between the
/// channel and the device, one of them the weight that gives the best bound at the start.
/// Precondition: the problem is valid.
std::vector<Relaxation> chooseRelaxations(const Problem &problem);

/// The bound of states for one target. Immutable and thread-safe.
class StateBound {
public:
  /// Takes linear time. Precondition: the problem is valid, and the relaxations' lines lie under
  /// its costs.
  StateBound(const Problem &problem, std::span<const Relaxation> relaxations, double target);

  /// The slack of a state: no solution that passes through `state` after k layers finishes before
  /// target - slack. Negative infinity where no such solution can finish before the target.
  double slack(const PlanState &state, std::size_t k) const;

  /// Whether the slack is more than rounding.
  bool isViable(double slack) const { return slack > 1e-12 * target; }

private:
  /// With `isSlow` messages slow computation.
  template <bool isSlow> void fill(const Problem &problem, std::size_t relaxation);
  /// The index of the entry after k layers for these open merge classes and this freedom.
  std::size_t entry(std::size_t k, std::size_t open, std::uint64_t freedom) const {
    return (k * masks + open) * freedoms + (freedom & (freedoms - 1));
  }

  std::vector<Relaxation> relaxations;
  double target;
  PairBits pairs;
  std::size_t masks; ///< number of sets of open merge classes
  /// 2 where one bit describes all pairs; else 1, and any layer with a carrier may piggyback.
  std::size_t freedoms;
  std::size_t mergeClassCount;
  std::size_t limited; ///< the merge class with a capacity; maxMergeClasses where none has one
  bool slows;          ///< whether messages slow computation
  /// For each relaxation and entry, the greatest weighted time and committed work from which the
  /// target can still be reached.
  std::vector<std::vector<double>> latest;
};

} // namespace syncline::solver
