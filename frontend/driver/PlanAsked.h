// Plans as the command line asks.
#pragma once

#include "frontend/driver/CompileRequest.h"
#include "passes/candidates/ChoosePlan.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline::driver {

/// Whether the devices of the cluster file, of which the plan's module has the memory, can hold it.
candidates::ExpectFits expectFits(const InputPaths &paths);

/// The best plan of what the request leaves open, for a module with cluster and profile. Errors:
/// those of candidates::choosePlan(); badInput where '--recompute auto' finds no size of the
/// devices' memory, and where '--split-tied always' finds nothing to split.
Result<candidates::Choice> planAsked(const candidates::Request &request, const InputPaths &paths,
                                     mlir::ModuleOp source, const EnterPhase &enter);

} // namespace syncline::driver
