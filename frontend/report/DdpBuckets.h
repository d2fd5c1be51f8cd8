// The buckets that PyTorch's DistributedDataParallel makes of bucket_cap_mb_list, and how a user
// sees that his are those.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::report {

inline constexpr std::int64_t mebibyte = 1 << 20; ///< in which DistributedDataParallel counts

/// The bytes of a module's gradients, which DistributedDataParallel has in an order of its own.
using ModuleBytes = std::vector<std::int64_t>;
/// The modules of each bucket, both in the order in which they are summed.
using BucketBytes = std::vector<std::vector<ModuleBytes>>;

/// The list that makes DistributedDataParallel close these buckets: "10, 0.3, 64.02". It closes a
/// bucket with the gradient that brings it to its entry times 2^20 bytes, cut to a whole number. An
/// entry is the number with the fewest digits, and of those the largest, that all gradients are
/// needed to reach. Precondition: each bucket has a module, each module a gradient, and no gradient
/// is empty.
std::string bucketCaps(const BucketBytes &buckets);

/// Python to paste into a training script: a hook that sums gradients as DistributedDataParallel
/// does, or by `hook` of its default_hooks, and says whether the last step's buckets were these.
std::string bucketCheck(const BucketBytes &buckets, const std::string &hook);

} // namespace syncline::report
