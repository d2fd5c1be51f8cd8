// One run of the pipeline over a model, as `compile` wants it.
#pragma once

#include "frontend/driver/Compile.h"

#include "mlir/IR/BuiltinOps.h"

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

/// Runs the pipeline over the module and checks that the devices can hold the plan. Errors: those
/// of runPipeline() and checkMemory().
Status planWith(const CompileOptions &options, const PlanWay &way, mlir::ModuleOp module,
                const EnterPhase &enter);

} // namespace syncline::driver
