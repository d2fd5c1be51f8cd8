// The backend under test: CUDA's, over the host's libraries in this folder.
#include "tests/conformance/Backends.h"

#include "runtime/cuda/CudaExecutable.h"
#include "tests/conformance/HostLoops.h"

namespace syncline::conformance {

namespace {

Result<std::unique_ptr<Executable>> create(const ExecutableOptions &options) {
  return std::unique_ptr<Executable>(std::make_unique<cuda::CudaExecutable>(options));
}

} // namespace

std::vector<Backend> backends() { return {{"cuda", create, hostCopy, hostKernels()}}; }

} // namespace syncline::conformance
