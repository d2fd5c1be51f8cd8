// The discardable attribute `sync.update` of sync.layer, which traces made from a model have.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::sync {

/// An f64: the seconds of the optimizer for the layer's parameters (S3), 0 where it is absent.
inline constexpr llvm::StringLiteral updateAttr = "sync.update";

} // namespace syncline::sync
