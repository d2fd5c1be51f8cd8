// Where a plan's times come from, as JSON.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json.hpp>

namespace syncline {

/// plan.schema.json, "provenance": whether operations' times are measured, and how many of them; of
/// a trace, that they are its own.
nlohmann::json provenanceJson(mlir::ModuleOp module);

} // namespace syncline
