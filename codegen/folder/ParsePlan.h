// Reads plan.mlir, also where its text is hostile.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace syncline::codegen {

/// Parses and verifies the file `path`. A text that makes MLIR's parser crash is an error like any
/// other. Preconditions: the context's registry knows the dialects (registerAllDialects), and no
/// other thread of the process runs. Errors: badInput, naming file and place.
Result<mlir::OwningOpRef<mlir::ModuleOp>> parsePlan(const std::string &path,
                                                    mlir::MLIRContext &context);

} // namespace syncline::codegen
