// The discardable attribute `cluster.overhead`. The driver sets it from a profile; passes read it.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::cluster {

/// An f64: the measured seconds of a step beside its operations (C7).
inline constexpr llvm::StringLiteral overheadAttr = "cluster.overhead";

} // namespace syncline::cluster
