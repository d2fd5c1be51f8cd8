// What `compile --consistency` takes, and together with which other options.
#pragma once

#include "frontend/driver/Compile.h"

#include "mlir/IR/MLIRContext.h"

namespace syncline::driver {

/// badUsage where the form is none, or where other options speak of gradients' messages although
/// the form has none. The context has all dialects.
Status checkConsistency(const CompileOptions &options, mlir::MLIRContext *context);

} // namespace syncline::driver
