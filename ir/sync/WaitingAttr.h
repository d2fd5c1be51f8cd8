// The discardable attribute `waiting` of sync.prediction.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: the seconds of the step in which a rank waits for weights, in the mean over a period
/// (P22). It stands beside programs that have exchanges.
inline constexpr llvm::StringLiteral waitingAttr = "waiting";

} // namespace syncline::sync
