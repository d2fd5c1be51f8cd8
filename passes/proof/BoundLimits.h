// BoundLimits: the part of the bound's check that reads relaxations: whether they are valid, and
// which partial solutions they show to be late (README.md, "The bound").
#pragma once

#include "passes/proof/SolutionChecker.h"

#include <optional>
#include <vector>

namespace syncline::proof {

using namespace problem;

/// Whether the line is under the cost of every message up to `most` bytes. Looks at the corners of
/// the cost's pieces.
bool liesUnder(const Relaxation::Line &line, const CollectiveCost &cost, std::int64_t most);

/// Whether the line is under what any message by the option is worth: what it takes from
/// computation, and the rest of its time by the channel's weight.
bool liesUnder(const Relaxation::Line &line, double weight, const SchemeOption &option,
               std::int64_t most);

/// Keeps references to problem and certificate, which must outlive it. Immutable after prepare().
class BoundLimits {
public:
  BoundLimits(const Problem &problem, const Certificate &certificate);

  /// Checks the relaxations, then computes their limits. Call it once, before isLate.
  std::optional<Rejection> prepare();

  /// Whether no solution that is in this state after k layers finishes before the bound.
  bool isLate(const PlanState &state, std::size_t k) const;

  /// Updates the state's freedom by layer k's choice. Returns false, and leaves the choice out,
  /// where it breaks a pair: a piggyback needs a carrier that sends factors, whichever of the two
  /// is decided first.
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
  bool slows;                              ///< whether messages slow computation
  std::vector<std::vector<double>> limits; ///< per relaxation, see limitsOf
};

} // namespace syncline::proof
