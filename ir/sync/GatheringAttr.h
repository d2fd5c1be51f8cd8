// The discardable attribute `gathering` of sync.prediction.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: the seconds that the step would take with the messages that are best for steps of one
/// batch. The plan for these was compared with the program's, and takes longer (P22).
inline constexpr llvm::StringLiteral gatheringAttr = "gathering";

} // namespace syncline::sync
