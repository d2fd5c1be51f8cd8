// A layer trace as IR.
#pragma once

#include "frontend/files/LayerTrace.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace syncline::frontend {

/// One `sync.trace` of these layers, named after `path`, which messages name. The sync dialect must
/// be loaded.
mlir::OwningOpRef<mlir::ModuleOp> traceModule(const files::LayerTrace &trace,
                                              const std::string &path, mlir::MLIRContext &context);

/// Reads the trace at `path` into a module with one `sync.trace`. Errors are the trace reader's.
/// The sync dialect must be loaded.
Result<mlir::OwningOpRef<mlir::ModuleOp>> readTraceModule(const std::string &path,
                                                          mlir::MLIRContext &context);

} // namespace syncline::frontend
