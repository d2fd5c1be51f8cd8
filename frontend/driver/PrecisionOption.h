// What `compile --precision` means for a module, and which times it is planned with.
#pragma once

#include "frontend/driver/Compile.h"
#include "frontend/files/Profile.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline::driver {

/// Sets the module's precision: the requested one, else the profile's if the backend has it, else
/// fp32. `profile` may be null. Notes on stderr where the times that the plan is made with are not
/// those of its precision. A layer trace has none.
void attachPrecision(const CompileOptions &options, const files::Profile *profile,
                     mlir::ModuleOp module);

} // namespace syncline::driver
