// Combines the dialect's attributes when operations become one.
#pragma once

#include "ir/nn/NN.h"

namespace syncline::fuse {

/// Sets the attributes of `into`, which does the work of `parts`: the last part's layer, the
/// last part's phase (backward or forward), and the sum of their predicted times when all parts
/// have one.
void combineAttributes(mlir::Operation *into, llvm::ArrayRef<mlir::Operation *> parts);

} // namespace syncline::fuse
