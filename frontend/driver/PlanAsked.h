// Plans as the command line asks.
#pragma once

#include "frontend/driver/Compile.h"
#include "passes/candidates/ChoosePlan.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace syncline::driver {

/// The best plan of what the options leave open, for a module with cluster and profile. Errors:
/// those of candidates::choosePlan(); badInput where '--recompute auto' finds no size of the
/// devices' memory, and where '--split-tied always' finds nothing to split.
Result<candidates::Choice> planAsked(const CompileOptions &options,
                                     const std::shared_ptr<const solver::Planner> &planner,
                                     mlir::ModuleOp source, const EnterPhase &enter);

} // namespace syncline::driver
