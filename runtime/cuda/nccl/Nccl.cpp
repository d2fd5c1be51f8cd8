// Formatting NCCL's errors.
#include "runtime/cuda/nccl/Nccl.h"

namespace syncline::cuda {

namespace {

ErrorKind kindOf(ncclResult_t status) {
  switch (status) {
  case ncclRemoteError:
    return ErrorKind::peerLost;
  case ncclSystemError:  // no memory, no network, no permission
  case ncclInvalidUsage: // two ranks on one device
    return ErrorKind::badInput;
  default: // newer releases of NCCL have more results
    return ErrorKind::internal;
  }
}

/// NCCL's version number as text: "2.28.9" for 22809.
std::string versionText(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

} // namespace

NcclFailure failureOf(ncclResult_t status, std::string_view call, ncclComm_t handle) {
  const char *detail = ncclGetLastError(handle);
  return {{kindOf(status), std::string(call) + ": " + ncclGetErrorString(status) +
                               (detail && *detail ? std::string(": ") + detail : "")},
          status};
}

void check(ncclResult_t status, std::string_view call, ncclComm_t handle) {
  if (status != ncclSuccess && status != ncclInProgress)
    throw failureOf(status, call, handle);
}

ncclDataType_t ncclTypeOf(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return ncclFloat32;
  case ElementType::f64:
    return ncclFloat64;
  case ElementType::f16:
    return ncclFloat16;
  case ElementType::bf16:
    return ncclBfloat16;
  case ElementType::i64:
    return ncclInt64;
  case ElementType::i32:
    return ncclInt32;
  case ElementType::u8:
    return ncclUint8;
  }
  return ncclUint8;
}

std::string ncclVersion() {
  int version = 0;
  return ncclGetVersion(&version) == ncclSuccess ? "NCCL " + versionText(version) : "no NCCL";
}

Status checkNcclVersion() {
  int version = 0;
  if (const ncclResult_t status = ncclGetVersion(&version); status != ncclSuccess)
    return Status::badInput(std::string("cannot use NCCL: ") + ncclGetErrorString(status));
  if (version / 10000 != NCCL_MAJOR)
    return Status::badInput("expected NCCL " + std::to_string(NCCL_MAJOR) + ", got " +
                            versionText(version));
  return Status::ok();
}

} // namespace syncline::cuda
