// A layer trace from a model, which may have operators that cannot be trained here.
#pragma once

#include "frontend/driver/CompileProgress.h"
#include "frontend/driver/CompileRequest.h"
#include "frontend/files/LayerTrace.h"

#include "mlir/IR/MLIRContext.h"

namespace syncline::driver {

/// Reads the model's shapes and predicts every layer's times, in seconds on a node without
/// slowdown. A node that the request's profile names takes its measured time. Other nodes take the
/// time of kernels of the cluster's device (passes/cost), or else the roofline's: each of their
/// parts for what it computes and moves. Updates are those of the request's optimizer.
/// Prints notes to standard error; `inventory` becomes the model's inventoryText. Errors: badInput
/// for a faulty model, cluster or profile, and where a layer has neither a measured time nor rates.
Result<files::LayerTrace> readModelTrace(const CompileRequest &request, mlir::MLIRContext &context,
                                         CompileProgress &progress, std::string &inventory);

/// Prints the notes of an import where the progress line stood.
void printNotes(const std::vector<std::string> &notes, CompileProgress &progress);

} // namespace syncline::driver
