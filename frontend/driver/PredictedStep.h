// Predicted steps of plans, to compare them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace syncline::driver {

/// The seconds of the plan's predicted step; 0 without a prediction.
double stepOf(mlir::ModuleOp plan);

/// Whether the seconds are fewer by more than rounding.
bool isShorter(double step, double other);

} // namespace syncline::driver
