// The discardable attribute `pass` of sync.prediction.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: in a step of several batches, the seconds of a pass that is not the last one (P22). It
/// stands beside programs whose gradients travel.
inline constexpr llvm::StringLiteral passAttr = "pass";

} // namespace syncline::sync
