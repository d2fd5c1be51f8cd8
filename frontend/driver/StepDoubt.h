// How far predicted computation may be off, and what that makes of a plan.
#pragma once

#include "frontend/driver/CompileRequest.h"
#include "frontend/files/ClusterFile.h"
#include "frontend/report/OffersReport.h"
#include "passes/RunPipeline.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace syncline::driver {

/// What published runs on the kind say of PyTorch's kernels; nothing where too few were published.
std::optional<report::StepDoubt> doubtOf(const files::DeviceRates &device);

/// Writes the range of the step into the plan's prediction (candidates::stepRange()), where all
/// times are predicted, published runs say how far these are off, and one form of consistency was
/// asked for. `source` is what was planned. Errors: those of stepRange().
Status addRange(const CompileRequest &request, mlir::ModuleOp source, mlir::ModuleOp plan,
                const EnterPhase &enter);

} // namespace syncline::driver
