// The discardable attributes of sync.layer that say by which factors or rows its gradient travels.
// Traces made from a step have them.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace syncline::sync {

/// A dictionary {scheme = "factors" or "sparse", bytes : i64}: the bytes of one rank (S3d).
inline constexpr llvm::StringLiteral gatheredAttr = "sync.gathered";
/// The layer from whose factors this gradient can be computed, as a bias's can (S3e).
inline constexpr llvm::StringLiteral carrierAttr = "sync.carrier";
/// An f64: the seconds that one more rank's samples add to the computation of the gradient from
/// what is gathered (S3d); 0 where it is absent.
inline constexpr llvm::StringLiteral reconstructAttr = "sync.reconstruct";

inline constexpr llvm::StringLiteral gatheredScheme = "scheme", gatheredBytes = "bytes";

} // namespace syncline::sync
