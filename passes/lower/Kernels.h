// Chooses the kernel that carries out an nn operation, and the names of its arguments.
#pragma once

#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace syncline::lower {

/// A kernel with the names that the runtime's step builder gives its arguments.
struct KernelUse {
  plan::Kernel kernel;
  llvm::SmallVector<llvm::StringRef> ins;  ///< one name for each operand that is present
  llvm::SmallVector<llvm::StringRef> outs; ///< one name for each result that is present
};

/// The kernel of an operation. Nothing for operations without a kernel: pointwise operations,
/// sources, and operations of other dialects.
std::optional<KernelUse> kernelOf(mlir::Operation *op);

/// Whether the loop's body yields zeroes for zeroes; false where folding cannot tell.
bool keepsZero(nn::PointwiseOp op);

} // namespace syncline::lower
