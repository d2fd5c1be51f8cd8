// The discardable attribute `alone` of sync.prediction.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: the seconds of a step on one device that sends nothing (P22). It computes what a rank
/// computes, updates all parameters, and has no slowdown. Scaling is measured against it.
inline constexpr llvm::StringLiteral aloneAttr = "alone";

} // namespace syncline::sync
