// Messages with the names of calls and of their errors.
#include "runtime/cuda/Check.h"

namespace syncline::cuda {

void check(cudaError_t status, std::string_view call) {
  if (status == cudaSuccess)
    return;
  const bool isMemory = status == cudaErrorMemoryAllocation;
  cudaGetLastError(); // clears the error, which the next launch would otherwise report again
  throw Failure{isMemory ? ErrorKind::badInput : ErrorKind::internal,
                std::string(call) + ": " + cudaGetErrorString(status)};
}

void check(cudnnStatus_t status, std::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS)
    return;
  char detail[512] = "";
  cudnnGetLastErrorString(detail, sizeof detail);
  const auto category = status / 1000; // CUDNN_STATUS_NOT_SUPPORTED and its subcategories
  const bool isUnsupported = category == CUDNN_STATUS_NOT_SUPPORTED / 1000;
  const bool isMemory = status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
                        status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  throw Failure{isUnsupported || isMemory ? ErrorKind::badInput : ErrorKind::internal,
                std::string(call) + ": " + cudnnGetErrorString(status) +
                    (detail[0] ? std::string(": ") + detail : "")};
}

void check(cublasStatus_t status, std::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS)
    return;
  const bool isUnsupported = status == CUBLAS_STATUS_NOT_SUPPORTED;
  const bool isMemory = status == CUBLAS_STATUS_ALLOC_FAILED;
  throw Failure{isUnsupported || isMemory ? ErrorKind::badInput : ErrorKind::internal,
                std::string(call) + ": " + cublasLtGetStatusString(status)};
}

} // namespace syncline::cuda
