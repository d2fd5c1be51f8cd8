// The discardable attribute `rounded` of plan.tensor.
#pragma once

#include "ir/plan/Plan.h"

namespace syncline::plan {

/// A unit: the tensor's elements are declared as f32 and stored as bf16 (P33).
inline constexpr llvm::StringLiteral roundedAttr = "rounded";

inline bool isRounded(TensorOp tensor) { return tensor->hasAttr(roundedAttr); }

/// Bytes of a rounded element.
inline constexpr std::int64_t roundedBytes = 2;

/// The bytes of the tensor's dense elements as they are stored.
inline std::int64_t storedBytes(TensorOp tensor) {
  auto type = mlir::cast<mlir::MemRefType>(tensor.getType());
  return isRounded(tensor) ? type.getNumElements() * roundedBytes : denseBytes(type);
}

} // namespace syncline::plan
