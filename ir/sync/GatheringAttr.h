// The discardable attribute `gathering` of sync.prediction.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: the seconds of the step that was planned for comparison, in which factors or rows travel
/// in each pass as a step of one pass has them (P22).
inline constexpr llvm::StringLiteral gatheringAttr = "gathering";

} // namespace syncline::sync
