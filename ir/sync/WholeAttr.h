// The discardable attribute `whole` of sync.prediction.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: the seconds of the step that was planned for comparison, in which no gradient travels in
/// two parts (P22).
inline constexpr llvm::StringLiteral wholeAttr = "whole";

} // namespace syncline::sync
