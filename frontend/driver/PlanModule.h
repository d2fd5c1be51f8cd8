// A plan folder's plan.mlir as a module.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace syncline::driver {

/// Reads plan.mlir and checks its hash; only `verify` checks the other files. Errors:
/// badInput where the folder is no plan or plan.mlir was changed. Precondition: the context
/// has all dialects.
Result<mlir::OwningOpRef<mlir::ModuleOp>> readPlanModule(const std::string &folder,
                                                         mlir::MLIRContext &context);

/// badInput where the plan's gradients stay on their rank, which `what` is not for.
Status expectGradientsTravel(mlir::ModuleOp module, const std::string &folder,
                             const std::string &what);

} // namespace syncline::driver
