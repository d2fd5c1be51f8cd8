// The discardable attribute `cluster.scatter`. The driver sets it from a profile; passes read it.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::cluster {

/// An array of arrays of f64: of each rank that ran beside the others, and of each of its measured
/// steps, how many times as long as usual the step took (C7g).
inline constexpr llvm::StringLiteral scatterAttr = "cluster.scatter";

} // namespace syncline::cluster
