// Replaces the CPU backend in builds without it; opening the backend is an error.
#include "runtime/cpu/CpuBackend.h"

namespace syncline::cpu {

// What is missing is the backend, as opening it says.
bool hasPrecision(core::Precision) { return true; }

Result<std::unique_ptr<core::Executable>>
createCpuExecutable(const core::ExecutableOptions &options) {
  return Status::badInput("this build has no CPU backend; configure with -DSYNCLINE_CPU=ON, which "
                          "names what is missing");
}

} // namespace syncline::cpu
