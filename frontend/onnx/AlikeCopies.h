// Whether a tensor's entries for samples are equal copies.
#pragma once

#include "frontend/onnx/BatchLayout.h"

namespace syncline::frontend {

/// Whether the operation makes all entries of the result's dimension from one, or from none.
bool repeatsAll(nn::BroadcastOp op, std::int64_t dim);

/// Whether `value`, which has no batch, has the same for each of `count` samples at the place. The
/// operations that make it say so; `made` gets those that made copies of one.
bool hasEqualCopies(mlir::Value value, BatchPlace place, std::int64_t count,
                    llvm::SmallVectorImpl<mlir::Operation *> &made);

} // namespace syncline::frontend
