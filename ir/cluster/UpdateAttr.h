// The third discardable attribute of a module, which only the cost model and who attaches a profile
// know.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::cluster {

/// What the optimizer takes, measured: an f64 of seconds a byte of the parameters (C7).
inline constexpr llvm::StringLiteral updateAttr = "cluster.update";

} // namespace syncline::cluster
