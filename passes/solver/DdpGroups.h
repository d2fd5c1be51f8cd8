// DdpGroups: the buckets of PyTorch's DistributedDataParallel, by one size or by a list. Both
// functions return the ends of the groups (see choicesOfGroups).
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// DDP closes a bucket, in backward order, with the layer that brings it to its cap. The first
/// bucket's cap is 1 MiB, the others' is `cap` bytes. Precondition: cap > 0.
std::vector<std::size_t> ddpGroups(const MergeProblem &merging, std::int64_t cap);

/// DDP's buckets by `bucket_cap_mb_list`, which are of whole modules, because DDP orders a module's
/// gradients by itself. Where messages do not slow computation, they are the fewest that end first.
/// Else they are those of a search that a gap may remain to (SolverOptions::slowedGap), and end no
/// later than the former, nor than DDP's buckets of whole modules by any whole number of MiB up to
/// 32. Precondition: `merging` has the problem's layers, and options of its first merge class.
std::vector<std::size_t> listedGroups(const Problem &problem, const MergeProblem &merging);

} // namespace syncline::solver
