// Where a plan's times come from, as JSON.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json_fwd.hpp>

namespace syncline::codegen {

/// The "provenance" of plan.schema.json: whether the operations' times are measured, and how many
/// of them. For a layer trace it says that the times are the trace's, unless the trace is that of
/// `isModel`, a model that is planned without its step.
nlohmann::json provenanceJson(mlir::ModuleOp module, bool isModel);

} // namespace syncline::codegen
