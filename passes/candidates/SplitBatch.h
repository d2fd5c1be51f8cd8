// Unequal batches for ranks of unequal speed.
#pragma once

#include "passes/RunPipeline.h"
#include "passes/candidates/Candidates.h"
#include "syncline/Status.h"

#include "ir/cluster/Cluster.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace syncline::candidates {

/// Seconds in which a rank without slowdown computes a step of `batch` samples: α + β·batch. A rank
/// of slowdown s takes s times as long.
///
/// Idealised: messages. Ranks that compute equally long have their gradients ready at about the
/// same time, so that messages hide alike behind each rank's computation.
struct ComputeTime {
  double fixed = 0, perSample = 0; ///< α, β
  double of(std::int64_t batch) const { return fixed + perSample * static_cast<double>(batch); }
};

/// The slowdown of each rank; a node's holds for all of its ranks.
std::vector<double> slowdownsOf(cluster::SpecAttr spec);

/// Batches b_r for ranks of slowdowns s_r with Σ b_r = `samples` and each b_r >= 1, that have the
/// least max s_r·(α + β·b_r): by bisection on that time, and then sample by sample, each to the
/// rank that has it done first, of equal ones the fastest, then the first. Preconditions: there are
/// at least as many samples as ranks; slowdowns are above 0; time.perSample is above 0 and
/// time.fixed not negative.
std::vector<std::int64_t> splitBatch(const ComputeTime &time, llvm::ArrayRef<double> slowdowns,
                                     std::int64_t samples);

/// Whether no other batches with the same sum have a shorter longest time, but for rounding.
bool isBestSplit(const ComputeTime &time, llvm::ArrayRef<double> slowdowns,
                 llvm::ArrayRef<std::int64_t> batches);

/// The spec as a plan of the step for `batch` samples has it: each node's slowdown becomes the time
/// of its ranks with their own batches over that of a rank without slowdown with `batch` samples.
/// A node whose ranks differ by a sample counts as the slowest of them.
cluster::SpecAttr asBalanced(cluster::SpecAttr spec, const ComputeTime &time,
                             llvm::ArrayRef<double> slowdowns, llvm::ArrayRef<std::int64_t> batches,
                             std::int64_t batch);

/// The seconds of all operations of the module's step on a rank without slowdown. Errors: those of
/// runPasses(). Precondition: `source` has `cluster.spec` and no backward pass.
Result<double> computeSeconds(const Candidate &candidate, mlir::ModuleOp source,
                              const EnterPhase &enter);

} // namespace syncline::candidates
