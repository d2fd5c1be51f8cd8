// A discardable attribute of sync.prediction, which only predictions, their check and their readers
// know.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: the seconds of a step of one device by itself, which computes what a rank does, updates
/// all parameters and sends nothing, without slowdown (P22). What scaling is measured against.
inline constexpr llvm::StringLiteral aloneAttr = "alone";

} // namespace syncline::sync
