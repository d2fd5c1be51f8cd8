// Integers that repeat, as operations that move integers.
#pragma once

#include "mlir/IR/Block.h"

namespace syncline::frontend {

/// Makes nn.concat of each nn.broadcast of integers: kernels that broadcast compute with
/// floating-point elements alone.
void repeatIntegers(mlir::Block &block);

} // namespace syncline::frontend
