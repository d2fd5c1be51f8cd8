// Solver: the exact planner for scheme and merge together, and the bound beside any other
// plan.
#pragma once

#include "passes/problem/Problem.h"
#include "passes/problem/Rounding.h"

#include <cstddef>

namespace syncline::solver {

using namespace problem;

/// A plan, and the proof of how early any plan could end.
struct SolverResult {
  Solution plan;
  Certificate certificate;
  std::size_t labels = 0; ///< states kept, over all layers and searches

  double bound() const { return certificate.bound; }
  /// How much later than the bound the plan ends, relative to the bound.
  double gap() const { return bound() > 0 ? plan.finish / bound() - 1 : 0; }
  bool optimal() const { return isProved(plan.finish, bound()); }
};

struct SolverOptions {
  /// States a search keeps after one layer, divided by the merge classes (each state is compared
  /// with more where there are more). Where more are alive the plan may not be optimal; gap() says
  /// how far from it it can be. At most nine such searches follow one another.
  std::size_t width = 400;
  /// Where so many states over all layers allow more after each, a search keeps more.
  std::size_t labels = 60'000;
  /// The most over all layers together, about 100 bytes each.
  std::size_t maxLabels = 1'000'000;
};

/// Objective: least finish; of the plan found, buckets are then merged where that costs nothing.
/// Guarantee: optimal when optimal() says so, which is always where the options' limits suffice; a
/// valid plan and a proven bound otherwise. Deterministic: the same problem gives the same bits.
/// Precondition: the problem is valid.
SolverResult solve(const Problem &problem, const SolverOptions &options = {});

} // namespace syncline::solver
