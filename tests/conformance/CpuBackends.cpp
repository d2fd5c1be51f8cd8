// The backend under test: the CPU's.
#include "tests/conformance/Backends.h"

#include "runtime/cpu/CpuBackend.h"
#include "tests/conformance/HostLoops.h"

namespace syncline::conformance {

std::vector<Backend> backends() {
  return {{"cpu", cpu::createCpuExecutable, hostCopy, hostKernels()}};
}

} // namespace syncline::conformance
