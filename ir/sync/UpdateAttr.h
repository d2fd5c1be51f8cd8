// The discardable attribute of `sync.layer`, which only traces made from a model have.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// What the optimizer takes for the layer's parameters: an f64 of seconds (S3). Without it the
/// trace says nothing of updates, and they count for nothing.
inline constexpr llvm::StringLiteral updateAttr = "sync.update";

} // namespace syncline::sync
