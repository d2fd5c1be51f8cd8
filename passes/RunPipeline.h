// Runs the pipeline over a module of the frontend; tells the user's errors from the compiler's.
#pragma once

#include "passes/Pipeline.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>

namespace syncline {

/// Tells that a phase of planning begins.
using EnterPhase = std::function<void(const std::string &phase)>;

/// Runs every pass, verifiers and judges included. badInput where a pass refuses what the user
/// requested (ir/Refusal.h); internal where the compiler refuses what it made itself. `enter` is
/// called with each phase's name as it begins: "differentiating", "planning", "lowering".
Status runPipeline(mlir::ModuleOp module, const PipelineOptions &options,
                   const EnterPhase &enter = {});

/// Runs the passes of buildProblem(), or of buildSolved(), in the same way.
Status runProblem(mlir::ModuleOp module, const PipelineOptions &options);
Status runSolved(mlir::ModuleOp module, const PipelineOptions &options,
                 const EnterPhase &enter = {});

/// Runs the passes of buildTimedStep(), or of buildSolution(), in the same way.
Status runTimedStep(mlir::ModuleOp module, const PipelineOptions &options, const EnterPhase &enter);
Status runSolution(mlir::ModuleOp module, const PipelineOptions &options, const EnterPhase &enter);

} // namespace syncline
