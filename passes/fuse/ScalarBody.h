// Writes what an elementwise operation computes for one element, in the arith and math dialects.
#pragma once

#include "ir/nn/NN.h"

#include "mlir/IR/Builders.h"

namespace syncline::fuse {

/// Whether `op` is of an elementwise kind: unary, unary_backward, binary, prelu_backward
/// or broadcast.
bool isElementwise(mlir::Operation *op);

/// Appends scalar code for `op`, given one scalar per operand; returns one scalar per result.
///
/// Bodies use these operations only: arith.{constant, addf, subf, mulf, divf, negf, cmpf, select}
/// with the ordered comparisons olt, ole, ogt and oge, and math.{exp, expm1, log, sqrt, tanh,
/// absf}. There are no branches, so that loops over bodies vectorise; a NaN operand gives a NaN
/// result. Preconditions: isElementwise(op), floating-point elements, all of one type.
llvm::SmallVector<mlir::Value> buildScalars(mlir::OpBuilder &builder, mlir::Operation *op,
                                            mlir::ValueRange operands);

} // namespace syncline::fuse
