// Solver: the exact planner of schemes and buckets, which also proves the bound beside the
// solutions of other planners.
#pragma once

#include "passes/problem/Problem.h"
#include "passes/problem/Rounding.h"

#include <cstddef>

namespace syncline::solver {

using namespace problem;

/// A solution, and the proof of how early any solution could end.
struct SolverResult {
  Solution plan;
  Certificate certificate;

  double bound() const { return certificate.bound; }
  /// How much later than the bound the solution ends, relative to the bound.
  double gap() const { return bound() > 0 ? plan.finish / bound() - 1 : 0; }
  bool optimal() const { return isProved(plan.finish, bound()); }
};

/// Limits of the search, which bound its time and memory.
struct SolverOptions {
  /// States that a search keeps after a layer, divided by the number of merge classes (with more
  /// classes each state is compared with more). Where more states are alive the solution may not be
  /// optimal; gap() bounds the loss. At most nine such searches follow one another.
  std::size_t width = 400;
  /// A search keeps fewer states, but no fewer than 100, where that would be more than this many
  /// over all layers: the last ones seldom find a better solution.
  std::size_t goal = 200'000;
  /// A search keeps more states after each layer where this many over all layers allow it.
  std::size_t labels = 60'000;
  /// The maximum number of states over all layers, about 100 bytes each.
  std::size_t maxLabels = 1'000'000;
  /// Where messages slow computation more states are alive. Searches of more than 160 states a
  /// layer, and proofs, then follow only while the gap is above this.
  double slowedGap = 5e-3;
};

/// Solves the problem. Objective: the least finish; buckets are then merged where that costs
/// nothing. Guarantee: the solution is optimal when optimal() says so, which it does where the
/// options' limits suffice; otherwise it is valid and the bound is proved. Deterministic: the same
/// problem gives the same bits. The solution ends no later than `known`, where one is given. Where
/// messages slow classes of operations unequally, the bound is that of the least losses, and the
/// search is a heuristic: its plan ends no later than those for the least and for equal losses.
/// Preconditions: the problem is valid, and `known` is valid for it.
SolverResult solve(const Problem &problem, const SolverOptions &options = {},
                   const Solution *known = nullptr);

} // namespace syncline::solver
