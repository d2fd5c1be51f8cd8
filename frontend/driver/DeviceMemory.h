// Whether a cluster's devices can hold a plan.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace syncline::driver {

/// The bytes that the devices have too few for the plan; 0 where it fits, or where the cluster file
/// does not state the device's memory.
std::int64_t missingBytes(mlir::ModuleOp module);

/// Refuses a plan whose tensors, with what exchanges, the optimizer and sums of passes keep, need
/// more bytes than the device has, where the cluster file `path` states the device's memory.
/// Errors: badInput.
Status checkMemory(const std::string &path, const std::string &overlap, mlir::ModuleOp module);

} // namespace syncline::driver
