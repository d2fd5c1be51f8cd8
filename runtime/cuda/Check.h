// Statuses of CUDA's libraries as our errors.
#pragma once

#include "syncline/Status.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <string>

namespace syncline::cuda {

/// What a library's call said. Thrown inside this folder only; Executable and StepBuilder make it a
/// Status with the operation's name.
struct Failure {
  ErrorKind kind; ///< badInput for memory or a kernel that is not there, internal for all else
  std::string message;
};

/// Throws the Failure of a call that did not succeed: "cudaMalloc: out of memory".
void check(cudaError_t status, const char *call);
void check(cudnnStatus_t status, const char *call);
void check(cublasStatus_t status, const char *call);

/// What `f`, which gives nothing, throws; internal for anything that is not a Failure.
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
