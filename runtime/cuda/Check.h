// Turning statuses of CUDA's libraries into errors.
#pragma once

#include "syncline/Status.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <string>
#include <string_view>

namespace syncline::cuda {

/// The failure of a library call. Thrown only inside this folder; CudaExecutable and CudaBuilder
/// turn it into a Status with the operation's name.
struct Failure {
  ErrorKind kind; ///< badInput for missing memory or a missing kernel, otherwise internal
  std::string message;
};

/// Throws a Failure such as "cudaMalloc: out of memory" when a call did not succeed.
void check(cudaError_t status, std::string_view call);
void check(cudnnStatus_t status, std::string_view call);
void check(cublasStatus_t status, std::string_view call);

/// Throws the error as a Failure.
inline void check(const Status &status) {
  if (!status)
    throw Failure{status.kind(), status.message()};
}

/// The name in the source text of a call: "maxPool" in "cuda::maxPool<T>(stream, map)".
consteval std::string_view nameInCall(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of("<("));
  return name.substr(name.rfind(':') + 1);
}

/// Makes a call and throws a Failure with its name if it did not succeed.
#define SYNCLINE_CHECK(...)                                                                        \
  ::syncline::cuda::check(__VA_ARGS__, ::syncline::cuda::nameInCall(#__VA_ARGS__))

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
