// Compares a plan with what its model gives again.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json_fwd.hpp>

namespace syncline::driver {

/// Reads the model or layer trace at `path` by the options that the plan's `document` records,
/// lowers it on the plan's cluster by the plan's own solution, and compares all that this gives:
/// problem, prediction, program, weights.bin and model.onnx. No planner runs. Returns false, with
/// nothing compared, where the plan is one of shapes alone for a model that cannot be trained.
/// `plan` is the verified module of `folder`, of which the judges have accepted the solution.
/// badInput names the first difference.
Result<bool> compareModel(const std::string &folder, const nlohmann::json &document,
                          mlir::ModuleOp plan, const std::string &path);

} // namespace syncline::driver
