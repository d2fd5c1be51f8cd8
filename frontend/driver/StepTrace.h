// A layer trace of a step: the same gradients, ready at the same times.
#pragma once

#include "frontend/files/LayerTrace.h"
#include "ir/nn/NN.h"
#include "passes/RunPipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace syncline::driver {

/// The layers of a step as the passes of buildTimedStep() leave it. Each parameter is a layer
/// behind the node whose backward work makes its gradient; that work is the parameter's, the rest
/// is the node's. Read backwards, the trace has the step's gradients in their order, each ready
/// when it is in the step. Times are in seconds on a node without slowdown: the step's divided by
/// `slowdown`. A parameter states what a plan of the step may gather in place of its gradient, and
/// M, N and K where that gradient is one product of two matrices.
files::LayerTrace traceOfStep(nn::StepOp step, double slowdown);

/// Replaces the module, which has `cluster.spec` and a step's forward pass, by one that has a
/// `sync.trace` of the step in its place, named after `path`. Returns that trace. Errors are those
/// of runPasses().
Result<files::LayerTrace> replaceStep(mlir::OwningOpRef<mlir::ModuleOp> &module,
                                      const std::string &path,
                                      const std::function<void(const std::string &)> &enter);

} // namespace syncline::driver
