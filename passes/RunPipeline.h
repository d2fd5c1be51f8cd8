// Runs passes of the pipeline over a module; tells the user's errors from the compiler's.
#pragma once

#include "passes/Pipeline.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>

namespace syncline {

/// Tells that a phase of planning begins.
using EnterPhase = std::function<void(const std::string &phase)>;

/// Appends passes: one of Pipeline.h's functions.
using BuildPasses = void (*)(mlir::OpPassManager &, const PipelineOptions &);

/// Runs the passes that `build` appends, verifiers and judges included. badInput where a pass
/// refuses what the user requested (ir/Refusal.h); internal where the compiler refuses what it made
/// itself. `enter` is called with the name of each phase as it begins: "differentiating",
/// "planning", "lowering".
Status runPasses(mlir::ModuleOp module, BuildPasses build, const PipelineOptions &options,
                 const EnterPhase &enter = {});

} // namespace syncline
