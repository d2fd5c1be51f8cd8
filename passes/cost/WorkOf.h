// WorkOf: the class of an operation, by which messages slow it.
#pragma once

#include "passes/problem/WorkClass.h"

#include "mlir/IR/Operation.h"

namespace syncline::cost {

/// The class of an operation of a step or of a program: convolutions, products of matrices and
/// recurrent layers are products, however small; all others live on the memory's bandwidth.
problem::WorkClass workOf(mlir::Operation *op);

} // namespace syncline::cost
