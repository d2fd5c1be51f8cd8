// The exact planner, put together: finish times, few groups, the clock.
#include "passes/solver/Merge.h"

#include "passes/solver/Coarsen.h"
#include "passes/solver/FinishTimes.h"
#include "passes/solver/Replay.h"

namespace syncline::solver {

MergeResult solveMerge(const MergeProblem &problem) {
  Certificate certificate{earliestFinishTimes(problem)};
  std::vector<std::size_t> ends = coarsestGroups(problem, certificate.earliestFinish);
  return {replay(problem, ends), std::move(certificate)};
}

} // namespace syncline::solver
