// The discardable attributes of recomputation. The pass `recompute` sets them; names of tensors and
// reports follow from them.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <cstdint>

namespace syncline::nn {

/// A unit on an operation of the backward pass that computes what an operation of the forward pass
/// of the same layer has computed before (NN54).
inline constexpr llvm::StringLiteral recomputedAttr = "nn.recomputed";

/// A dictionary on a step, and on the program that it becomes (NN54): `blocks`, the names of what
/// is recomputed, and `freed`, an i64, the bytes by which the step's arena is smaller than without
/// recomputation. It is negative where recomputation takes memory. Where the blocks were searched,
/// also `asked`, an i64: the bytes that they were to free.
inline constexpr llvm::StringLiteral recomputationAttr = "nn.recomputation";

/// The dictionary's parts; null where it lacks them.
inline mlir::ArrayAttr blocksOf(mlir::DictionaryAttr recomputation) {
  return recomputation.getAs<mlir::ArrayAttr>("blocks");
}
inline mlir::IntegerAttr freedOf(mlir::DictionaryAttr recomputation) {
  return recomputation.getAs<mlir::IntegerAttr>("freed");
}

inline mlir::IntegerAttr askedOf(mlir::DictionaryAttr recomputation) {
  return recomputation.getAs<mlir::IntegerAttr>("asked");
}

inline bool isRecomputed(mlir::Operation *op) { return op->hasAttr(recomputedAttr); }

} // namespace syncline::nn
