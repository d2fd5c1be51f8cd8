// Merge: the exact planner. Cuts the layers so that the last message ends as early as any cut
// allows, and proves it.
#pragma once

#include "passes/solver/MergeProblem.h"

namespace syncline::solver {

/// A plan, and the proof of how early any plan could end. The plan is optimal when it ends then.
struct MergeResult {
  Solution solution;
  Certificate certificate;

  /// Seconds; no plan finishes earlier.
  double bound() const { return certificate.earliestFinish.back(); }
  /// How much later than the bound the plan ends, relative to the bound: 0.2 is 20 % later.
  double gap() const { return bound() > 0 ? solution.finish / bound() - 1 : 0; }
};

/// Objective: least finish; then few groups (see coarsestGroups in Coarsen.h). Guarantee: optimal
/// for every cost, up to rounding (1e-12 of the finish). The same problem gives the same bits.
/// Time: see earliestFinishTimes in FinishTimes.h. Precondition: the problem is valid.
MergeResult solveMerge(const MergeProblem &problem);

} // namespace syncline::solver
