// Whether a cluster's devices can hold a plan.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace syncline::candidates {

/// The bytes that the devices have too few for the plan's tensors and for what exchanges, the
/// optimizer and sums of micro-batches keep; at most 0 where it fits, or where the cluster file
/// does not state the devices' memory.
std::int64_t missingBytes(mlir::ModuleOp plan);

} // namespace syncline::candidates
