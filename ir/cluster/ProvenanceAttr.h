// The fourth discardable attribute of a module, which only who attaches a cluster and who tells
// people of it know.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::cluster {

/// Where the times of operations come from: a dictionary (C7) with the entries, each where it is
/// known, `device` (whose data sheet the cluster's rates are), `efficiency` (the share of its rates
/// that the device's kernels reach, already part of #cluster.device) and `profile` (the file).
inline constexpr llvm::StringLiteral provenanceAttr = "cluster.provenance";

} // namespace syncline::cluster
