// Which operands and results of operations have a derivative.
#pragma once

#include "mlir/IR/Value.h"

namespace syncline::nn {

/// NN20c, NN21e: false where the operation is computed with the operand, as with a mask, but its
/// results have no derivative with respect to it.
bool hasDerivative(mlir::OpOperand &operand);

/// False for results that are places or truth values.
bool hasDerivative(mlir::OpResult result);

} // namespace syncline::nn
