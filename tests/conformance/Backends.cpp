// The list of backends under test.
#include "tests/conformance/Backends.h"

#include "runtime/cpu/CpuBackend.h"

namespace syncline::conformance {

std::vector<Backend> backends() { return {{"cpu", cpu::createCpuExecutable}}; }

} // namespace syncline::conformance
