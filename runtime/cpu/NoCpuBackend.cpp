// In the CPU backend's place where it is not built: says so.
#include "runtime/cpu/CpuBackend.h"

namespace syncline::cpu {

Result<std::unique_ptr<Executable>> createCpuExecutable(const ExecutableOptions &options) {
  return Status::badInput("this build has no CPU backend; configure with -DSYNCLINE_CPU=ON, which "
                          "names what is missing");
}

} // namespace syncline::cpu
