// Whether a cluster's devices can hold a plan.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace syncline::driver {

/// Refuses a plan whose tensors, with what exchanges and the optimizer keep, need more bytes than
/// the device has, where the cluster file `path` states the device's memory. Errors: badInput.
Status checkMemory(const std::string &path, const std::string &overlap, mlir::ModuleOp module);

} // namespace syncline::driver
