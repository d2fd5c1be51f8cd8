// A layer trace from a model, whose nodes need not be ones that can be trained here.
#pragma once

#include "frontend/driver/Compile.h"
#include "frontend/files/LayerTrace.h"
#include "frontend/onnx/ImportOnnx.h"

#include "mlir/IR/MLIRContext.h"

namespace syncline::driver {

/// Reads the model's shapes and predicts every layer's times: measured where options.profile names
/// the node, else by the roofline of the cluster's device (passes/cost) on what the node computes
/// and moves, every part of it with its launch overhead. Updates are those of SGD with momentum, or
/// as the profile measured. Times are of a node without slowdown. Notes go to stderr. badInput
/// where the model, the cluster or the profile is, and where a layer has neither time nor rates.
Result<files::LayerTrace> readModelTrace(const CompileOptions &options, mlir::MLIRContext &context);

/// What `compile` is told of the model, as the importer takes it.
ImportOptions importOptions(const CompileOptions &options);

/// Prints the notes of an import.
void printNotes(const std::vector<std::string> &notes);

} // namespace syncline::driver
