// Predicts a planned module's times.
#pragma once

#include "passes/simulate/Prediction.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline::simulate {

/// Simulates one step of the module's program, or of its trace by its solution, on its own cluster.
/// `predict-times` writes the result and `check-plan` compares with it. Returns badInput where the
/// module is no plan (see SimulatedPlan); a diagnostic may be emitted.
Result<Prediction> predictPlan(mlir::ModuleOp module);

} // namespace syncline::simulate
