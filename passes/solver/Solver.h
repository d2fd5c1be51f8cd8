// JointSolver: the exact planner for scheme and merge together, and the bound beside any other
// plan.
#pragma once

#include "passes/problem/Rounding.h"
#include "passes/problem/Problem.h"

#include <cstddef>

namespace syncline::solver {

/// A plan, and the proof of how early any plan could end.
struct JointResult {
  JointPlan plan;
  JointCertificate certificate;
  std::size_t labels = 0; ///< states kept, over all layers and searches

  double bound() const { return certificate.bound; }
  /// How much later than the bound the plan ends, relative to the bound.
  double gap() const { return bound() > 0 ? plan.finish / bound() - 1 : 0; }
  bool optimal() const { return isProved(plan.finish, bound()); }
};

struct JointOptions {
  /// States a search keeps after one layer, divided by the lanes (each state is compared with more
  /// where there are more). Where more are alive the plan may not be optimal; gap() says how far
  /// from it it can be. At most nine such searches follow one another.
  std::size_t width = 400;
  /// Where so many states over all layers allow more after each, a search keeps more.
  std::size_t labels = 60'000;
  /// The most over all layers together, about 100 bytes each.
  std::size_t mostLabels = 1'000'000;
};

/// Objective: least finish; of the plan found, buckets are then merged where that costs nothing.
/// Guarantee: optimal when optimal() says so, which is always where the options' limits suffice; a
/// valid plan and a proven bound otherwise. Deterministic: the same problem gives the same bits.
/// Precondition: the problem is valid.
JointResult solveJoint(const JointProblem &problem, const JointOptions &options = {});

} // namespace syncline::solver
