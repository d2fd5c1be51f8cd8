// The discardable attribute `cluster.provenance`. The driver sets it; codegen reads
// it, and planners that imitate systems on GPUs.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::cluster {

/// A dictionary that says where the times of operations come from (C7). An entry is absent where it
/// is not known. `device` names the data sheet that the cluster's rates are from. `efficiency` is
/// the share of these rates that the device's kernels reach; #cluster.device already contains it.
/// `profile` names the file of measured times.
inline constexpr llvm::StringLiteral provenanceAttr = "cluster.provenance";

} // namespace syncline::cluster
