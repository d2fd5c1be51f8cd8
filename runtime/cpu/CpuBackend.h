// The CPU compute backend: runs a step by oneDNN and generated loops, and keeps blocked layouts
// from operation to operation.
#pragma once

#include "runtime/core/Executable.h"

#include <memory>

namespace syncline::cpu {

/// Whether this processor has arithmetic of the precision, and no cap of its instruction sets takes
/// it away.
bool hasPrecision(core::Precision precision);

/// Allocates the spaces, zeroed, and returns an executable that is ready to be built. Errors:
/// badInput when memory is short or SYNCLINE_MAX_CPU_ISA names no instruction set. Compute threads
/// are OpenMP threads. Operations must run with as many OpenMP threads as they were built with;
/// run() takes care of this.
/// A precision that the processor does not have is computed as fp32.
Result<std::unique_ptr<core::Executable>>
createCpuExecutable(const core::ExecutableOptions &options);

} // namespace syncline::cpu
