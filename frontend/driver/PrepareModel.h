// A model or a layer trace, read as a command line asks, before it is planned.
#pragma once

#include "codegen/folder/PlanFolder.h"
#include "frontend/driver/CompileProgress.h"
#include "frontend/driver/CompileRequest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace syncline::driver {

struct PreparedModel {
  CompileRequest request;
  codegen::PlanInfo info;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< with what passes read of the request
  std::vector<codegen::PlanFile> files;     ///< of the plan folder, beside what is generated
  std::string inventory; ///< which of the model's tensors are planned; empty for a layer trace
};

/// Reads the inputs. Prints notes to standard error, if `says`. Errors: those of readRequest(); of
/// reading the model and the cluster; badInput for a profile of another batch.
Result<PreparedModel> prepareModel(const CompileOptions &options, mlir::MLIRContext &context,
                                   CompileProgress &progress, bool says = true);

} // namespace syncline::driver
