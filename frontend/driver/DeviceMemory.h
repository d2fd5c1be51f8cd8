// Refuses plans that the devices cannot hold.
#pragma once

#include "passes/candidates/Candidates.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace syncline::driver {

/// Refuses a plan that needs more bytes than the device has (passes/candidates/DeviceMemory.h),
/// where the cluster file `path` states the device's memory. Errors: badInput.
Status checkMemory(const std::string &path, const candidates::Candidate &candidate,
                   mlir::ModuleOp plan);

} // namespace syncline::driver
