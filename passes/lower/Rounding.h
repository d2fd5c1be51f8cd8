// Which tensors of the arena a step in bf16 stores as bf16.
#pragma once

#include "ir/nn/NN.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace syncline::lower {

/// Whether all operands have the results' shape, so that one loop works in any layout that
/// they share.
bool isFlat(nn::PointwiseOp op);

/// Whether a result in the arena is stored as bf16 where `isRounded` says so of the operands: the
/// table in README.md. Both backends then store it so by themselves; where they differ, the answer
/// is no, since a backend may round a tensor for which the plan has room in f32.
bool isStoredRounded(mlir::OpResult result, llvm::function_ref<bool(mlir::Value)> isRounded);

} // namespace syncline::lower
