// BoundLimits: the judge's half of a bound: whether relaxations are ones, and which partial
// plans they show to be late (README.md, "The bound").
#pragma once

#include "passes/proof/SolutionChecker.h"

#include <optional>
#include <vector>

namespace syncline::proof {

using namespace problem;

/// Reads problem and certificate, which must outlive it. Immutable after prepare().
class BoundLimits {
public:
  BoundLimits(const Problem &problem, const Certificate &certificate);

  /// Checks the relaxations, then computes their limits. Call it before isLate.
  std::optional<Rejection> prepare();

  /// Whether no plan that is in this state after k layers finishes before the bound.
  bool isLate(const PlanState &state, std::size_t k) const;

  /// Whether layer k alone fits into a merge class it may use.
  bool fits(std::size_t k, std::size_t mergeClass) const {
    return (problem.layers[k].mergeClasses & (1u << mergeClass)) &&
           problem.layers[k].bytes <= problem.mergeClasses[mergeClass].largestMessage;
  }

  /// A piggyback rides only with a carrier that travels alone, whichever of the two comes first:
  /// false when layer k may not travel so after what was decided; else the state's freedom is
  /// updated.
  bool settlePairs(PlanState &state, std::size_t k, bool isFactors, bool isPiggyback) const;

private:
  std::optional<Rejection> checkRelaxation(std::size_t index) const;
  bool isTooLate(double reached, double limit) const;
  std::size_t freedoms() const;
  std::vector<double> limitsOf(const Relaxation &relaxation) const;

  const Problem &problem;
  const Certificate &proof;
  PairBits pairs;
  std::size_t n, mergeClasses;
  std::optional<std::size_t> limited;
  std::vector<std::vector<double>> limits; ///< per relaxation
};

} // namespace syncline::proof
