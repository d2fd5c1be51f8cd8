// The suite on the CUDA backend, in one process, since to start CUDA takes longer than a test.
// Where there is no device it says so and ends with exit code 77, which ctest counts as skipped.
#include "tests/conformance/CudaModule.h"

#include "runtime/core/BackendModule.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <iostream>

namespace syncline::conformance {

namespace {

using namespace core;

const Result<const core::Backend *> &module() {
  static const Result<const core::Backend *> loaded = loadBackend(backendModulePath("cuda"));
  return loaded;
}

/// Precondition: module().
template <Precision precision>
Result<std::unique_ptr<Executable>> create(const ExecutableOptions &given) {
  ExecutableOptions options = given;
  options.precision = precision;
  return (*module())->createExecutable(options);
}

/// Copies inside a device may go on when cudaMemcpy returns.
void copy(void *to, const void *from, std::size_t bytes) {
  if (to == from)
    return;
  EXPECT_EQ(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

} // namespace

std::vector<Backend> backends() {
  return {{"cuda", create<Precision::fp32>, copy, cudaKernels()},
          {"cudaTf32", create<Precision::tf32>, copy, cudaKernels(), 2e-3},
          {"cudaBf16", create<Precision::bf16>, copy, cudaKernels(), 2e-2}};
}

} // namespace syncline::conformance

int main(int argc, char **argv) {
  using syncline::conformance::module;
  testing::InitGoogleTest(&argc, argv);
  if (!module()) {
    std::cerr << module().status().message() << '\n';
    return 1;
  }
  if (syncline::Status usable = (*module())->available(); !usable) {
    std::cout << "conformance of 'cuda' is skipped: " << usable.message() << '\n';
    return 77;
  }
  return RUN_ALL_TESTS();
}
