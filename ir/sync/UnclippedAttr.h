// The discardable attribute `unclipped` of sync.prediction.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: the seconds that the step of a program with `clip_norm` would take without it (P22).
inline constexpr llvm::StringLiteral unclippedAttr = "unclipped";

} // namespace syncline::sync
