// Plans a module in each way that the options leave open, and takes the fastest.
#pragma once

#include "frontend/driver/Compile.h"
#include "frontend/driver/PlanWith.h"
#include "passes/solver/Planner.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace syncline::driver {

/// Replaces the module by its plan, with the overlap, the channels and the split of tied gradients
/// that the options ask for. Of what they leave open it takes what has the shortest predicted step.
/// Returns why with this overlap, for people.
Result<std::string> choosePlan(const CompileOptions &options,
                               const std::shared_ptr<const solver::Planner> &planner,
                               mlir::OwningOpRef<mlir::ModuleOp> &module, const EnterPhase &enter);

} // namespace syncline::driver
