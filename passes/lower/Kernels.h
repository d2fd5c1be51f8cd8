// Which kernel carries out an nn operation, and what its operands are called there.
#pragma once

#include "ir/plan/Plan.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace syncline::lower {

/// Operand and result names as the runtime's step builder names its arguments.
struct KernelUse {
  plan::Kernel kernel;
  llvm::SmallVector<llvm::StringRef, 6> ins;  ///< one an operand that is present
  llvm::SmallVector<llvm::StringRef, 4> outs; ///< one a result that is present
};

/// Nothing for operations that are no kernel: pointwise ones, sources, and those of another
/// dialect.
std::optional<KernelUse> kernelOf(mlir::Operation *op);

} // namespace syncline::lower
