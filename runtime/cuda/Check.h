// Turning statuses of CUDA's libraries into errors.
#pragma once

#include "syncline/Status.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <string>

namespace syncline::cuda {

/// The failure of a library call. Thrown only inside this folder; CudaExecutable and CudaBuilder
/// turn it into a Status with the operation's name.
struct Failure {
  ErrorKind kind; ///< badInput for missing memory or a missing kernel, otherwise internal
  std::string message;
};

/// Throws a Failure such as "cudaMalloc: out of memory" when a call did not succeed.
void check(cudaError_t status, const char *call);
void check(cudnnStatus_t status, const char *call);
void check(cublasStatus_t status, const char *call);

/// Calls `f` and returns what it throws as a Status. Exceptions other than Failure are
/// internal errors.
template <typename F> Status statusOf(const std::string &where, F &&f) {
  try {
    f();
  } catch (const Failure &failure) {
    return Status::error(failure.kind, where + failure.message);
  } catch (const std::exception &error) {
    return Status::error(ErrorKind::internal, where + error.what());
  }
  return Status::ok();
}

} // namespace syncline::cuda
