// `syncline compile --balance`: a plan for each batch of ranks that compute unequally fast.
#pragma once

#include "frontend/driver/Compile.h"

namespace syncline::driver {

/// As compile(), but ranks share the samples of a step by their speed (candidates::splitBatch), so
/// that the slowest ends earliest. All plans have the same buckets, of sums alone: what ranks
/// gather would have other sizes by rank. Where no other batches shorten the longest time of a
/// rank, plans as without. Errors besides: badUsage without a batch; badInput for more different
/// batches than a folder has plans for, and for gradients that are to be gathered. Precondition:
/// the options name nothing that excludes it.
Status compileBalanced(const CompileOptions &options);

} // namespace syncline::driver
