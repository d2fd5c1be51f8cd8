// The CPU compute backend: runs a step by oneDNN and generated loops, and keeps blocked layouts
// from operation to operation.
#pragma once

#include "runtime/core/Executable.h"

#include <memory>

namespace syncline::cpu {

/// Allocates the spaces, zeroed, and returns an executable that is ready to be built. Errors:
/// badInput when memory is short. Compute threads are OpenMP threads. Operations must run with as
/// many OpenMP threads as they were built with; run() takes care of this.
Result<std::unique_ptr<core::Executable>>
createCpuExecutable(const core::ExecutableOptions &options);

} // namespace syncline::cpu
