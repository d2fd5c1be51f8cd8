// The discardable attributes of traces made from a step: which these are, and by which factors or
// rows the gradient of a sync.layer travels.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace syncline::sync {

/// On a sync.trace whose computation is that of a step as a program has it (S3f).
inline constexpr llvm::StringLiteral ofStepAttr = "sync.of_step";
/// A dictionary {scheme = "factors" or "sparse", bytes : i64}: the bytes of one rank (S3d).
inline constexpr llvm::StringLiteral gatheredAttr = "sync.gathered";
/// The layer from whose factors this gradient can be computed, as a bias's can (S3e).
inline constexpr llvm::StringLiteral carrierAttr = "sync.carrier";
/// An f64: the seconds that one more rank's samples add to the computation of the gradient from
/// what is gathered (S3d); 0 where it is absent.
inline constexpr llvm::StringLiteral reconstructAttr = "sync.reconstruct";

inline constexpr llvm::StringLiteral gatheredScheme = "scheme", gatheredBytes = "bytes";

} // namespace syncline::sync
