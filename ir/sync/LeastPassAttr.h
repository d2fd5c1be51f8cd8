// The discardable attribute `least_pass` of sync.prediction.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64, beside a program with `accumulate`: the seconds that each pass but the last one takes at
/// least, by any plan of the problem (P22).
inline constexpr llvm::StringLiteral leastPassAttr = "least_pass";

} // namespace syncline::sync
