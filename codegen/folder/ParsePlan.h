// plan.mlir as a module, whatever somebody wrote into it.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace syncline {

/// Parses and verifies the file `path`. A text by which MLIR's parser ends the process is an error
/// like any other. Preconditions: the context's registry knows the dialects (registerAllDialects);
/// no other thread of the process runs. Errors: badInput, naming file and place.
Result<mlir::OwningOpRef<mlir::ModuleOp>> parsePlan(const std::string &path,
                                                    mlir::MLIRContext &context);

} // namespace syncline
