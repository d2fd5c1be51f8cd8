// One run of the pipeline over a model, as `compile` wants it.
#pragma once

#include "frontend/driver/Compile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <memory>
#include <string>

namespace syncline::solver {
class Planner;
}

namespace syncline::driver {

/// Tells that a phase of planning begins.
using EnterPhase = std::function<void(const std::string &phase)>;

/// One way to plan, of those that the options leave open.
struct PlanWay {
  std::shared_ptr<const solver::Planner> planner;
  std::string overlap = "backward"; ///< or "step"
  int channels = 1;
  bool splitsTied = false; ///< whether tied gradients travel in two parts
};

/// Runs the pipeline over the module and checks that the devices can hold the plan. With
/// `--recompute auto` it plans without recomputation first, and then, while the devices lack
/// memory, with as much of it as frees what is missing. Errors: those of runPipeline() and
/// checkMemory(); badInput where `auto` finds no size of the devices' memory.
Status planWith(const CompileOptions &options, const PlanWay &way,
                mlir::OwningOpRef<mlir::ModuleOp> &module, const EnterPhase &enter);

} // namespace syncline::driver
