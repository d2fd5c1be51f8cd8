// BoundLimits: the judge's half of a joint bound: whether relaxations are ones, and which partial
// plans they show to be late (README.md, "The bound").
#pragma once

#include "passes/proof/SolutionChecker.h"

#include <optional>
#include <vector>

namespace syncline::solver {

/// Reads problem and certificate, which must outlive it. Immutable after prepare().
class BoundLimits {
public:
  BoundLimits(const JointProblem &problem, const JointCertificate &certificate);

  /// Checks the relaxations, then computes their limits. Call it before isLate.
  std::optional<JointRejection> prepare();

  /// Whether no plan that is in this state after k layers finishes before the bound.
  bool isLate(const PlanState &state, std::size_t k) const;

  /// Whether layer k alone fits into a lane it may use.
  bool fits(std::size_t k, std::size_t lane) const {
    return (problem.layers[k].lanes & (1u << lane)) &&
           problem.layers[k].bytes <= problem.lanes[lane].largestMessage;
  }

  /// A rider rides only with a carrier that travels alone, whichever of the two comes first: false
  /// when layer k may not travel so after what was decided; else the state's freedom is updated.
  bool settlePairs(PlanState &state, std::size_t k, bool isSolo, bool rides) const;

private:
  std::optional<JointRejection> checkRelaxation(std::size_t index) const;
  bool isTooLate(double reached, double limit) const;
  std::size_t freedoms() const;
  std::vector<double> limitsOf(const Relaxation &relaxation) const;

  const JointProblem &problem;
  const JointCertificate &proof;
  PairBits pairs;
  std::size_t n, lanes;
  std::optional<std::size_t> limited;
  std::vector<std::vector<double>> limits; ///< per relaxation
};

} // namespace syncline::solver
