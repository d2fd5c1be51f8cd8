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

/// Runs the pipeline over the module and checks that the devices can hold the plan. Errors: those
/// of runPipeline() and checkMemory().
Status planWith(const CompileOptions &options, std::shared_ptr<const solver::Planner> planner,
                const std::string &overlap, int channels, mlir::ModuleOp module,
                const std::function<void(const std::string &phase)> &enter);

} // namespace syncline::driver
