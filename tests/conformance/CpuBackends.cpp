// The backend under test: the CPU's, in each precision that this processor has.
#include "tests/conformance/Backends.h"

#include "runtime/cpu/CpuBackend.h"
#include "tests/conformance/HostLoops.h"

namespace syncline::conformance {

namespace {

Result<std::unique_ptr<core::Executable>> createBf16(const core::ExecutableOptions &given) {
  core::ExecutableOptions options = given;
  options.precision = core::Precision::bf16;
  return cpu::createCpuExecutable(options);
}

} // namespace

std::vector<Backend> backends() {
  std::vector<Backend> all{{"cpu", cpu::createCpuExecutable, hostCopy, hostKernels()}};
  if (cpu::hasPrecision(core::Precision::bf16))
    all.push_back({"cpuBf16", createBf16, hostCopy, hostKernels(), 2e-2});
  return all;
}

} // namespace syncline::conformance
