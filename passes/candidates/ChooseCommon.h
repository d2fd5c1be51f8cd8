// The choice of the buckets that plans of one model for several sizes of its inputs share.
#pragma once

#include "passes/candidates/ChoosePlan.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace syncline::candidates {

/// A plan for each size, and where its buckets come from.
struct CommonChoice {
  std::vector<Choice> plans;         ///< in the order of the sources
  std::size_t decided = 0;           ///< the source whose own plan's buckets all plans have
  std::vector<double> ownSteps = {}; ///< seconds of each one's step by its own best buckets
};

/// Plans every source by itself, and then all of them with the buckets, schemes and channels of
/// each one. Takes those with the least sum of predicted steps; of equal ones the last source's.
/// Parameters lie as a plan's buckets do, so sizes that train the same parameters cannot have
/// buckets of their own. The plans of other sources name the planner "common".
///
/// Errors: those of choosePlan() for a source by itself; where no source's buckets fit all, why the
/// last one's do not. Preconditions: those of choosePlan(), for each source; there is one, and each
/// has a step; the request leaves neither overlap nor recomputation open and has no order.
Result<CommonChoice> chooseCommon(const Request &request, llvm::ArrayRef<mlir::ModuleOp> sources,
                                  const ExpectFits &fits, const EnterPhase &enter);

} // namespace syncline::candidates
