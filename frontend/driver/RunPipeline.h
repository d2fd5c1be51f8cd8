// The pipeline over a module that the frontend made, and whose fault it is where that fails.
#pragma once

#include "passes/Pipeline.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline::driver {

/// Runs every pass, verifiers and judges included. badInput where a pass refuses what the user
/// requested (ir/Refusal.h); internal where the compiler refuses what it made itself.
Status runPipeline(mlir::ModuleOp module, const PipelineOptions &options);

} // namespace syncline::driver
