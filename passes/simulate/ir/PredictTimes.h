// What a planned module takes in virtual time.
#pragma once

#include "passes/simulate/Prediction.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline::simulate {

/// One step of the module's program, or of its trace by its solution, on its own cluster: what
/// `predict-times` writes down and `check-plan` compares with. badInput where the module is no plan
/// (see SimulatedPlan); a diagnostic may be emitted.
Result<Prediction> predictPlan(mlir::ModuleOp module);

} // namespace syncline::simulate
