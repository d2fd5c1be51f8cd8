// The discardable attribute `cluster.update`. The driver sets it from a profile; passes read it.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::cluster {

/// An f64: the measured seconds of the optimizer for each byte of the parameters (C7).
inline constexpr llvm::StringLiteral updateAttr = "cluster.update";

} // namespace syncline::cluster
