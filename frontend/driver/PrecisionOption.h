// What `compile --precision` means for a module, and which times it is planned with.
#pragma once

#include "frontend/files/Profile.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace syncline::driver {

/// The precision to compute in: the requested one, else the measured one if the backend has it,
/// else tf32 on GPUs of a kind that has it, as PyTorch's convolutions do, else fp32. `requested`
/// and `measured` are empty where there is none, `kind` where the cluster names no kind of device.
std::string precisionFor(const std::string &requested, const std::string &measured,
                         const std::string &backend, const std::string &kind);

/// Sets the module's precision. `profile`, which the file `path` holds, may be null. Notes on
/// stderr where the times that the plan is made with are not those of its precision: a profile's,
/// or rates of a device that is not `isPredicted` in each precision. A layer trace has none.
void attachPrecision(const std::string &precision, const files::Profile *profile,
                     const std::string &path, bool isPredicted, mlir::ModuleOp module);

} // namespace syncline::driver
