// What becomes of the dialect's attributes when operations become one.
#pragma once

#include "ir/nn/NN.h"

namespace syncline {

/// `into`, which does the work of `parts`, is of the last part's layer, belongs to the backward
/// pass when that part does, and takes the sum of their predicted times when all have one.
void combineAttributes(mlir::Operation *into, llvm::ArrayRef<mlir::Operation *> parts);

} // namespace syncline
