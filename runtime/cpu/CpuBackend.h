// The CPU compute backend: a step on oneDNN and generated loops, blocked layouts carried from
// operation to operation.
#pragma once

#include "runtime/core/Executable.h"

#include <memory>

namespace syncline::cpu {

/// Allocates the spaces (zeroed) and gives an executable ready to be built. Errors: badInput when
/// the memory is not there. Compute threads are OpenMP's; operations must be run by the thread that
/// built them or one with as many OpenMP threads (run() sees to it).
Result<std::unique_ptr<Executable>> createCpuExecutable(const ExecutableOptions &options);

} // namespace syncline::cpu
