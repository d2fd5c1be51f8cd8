// Turning NCCL's statuses into errors, and NCCL's names of element types.
#pragma once

#include "runtime/cuda/Check.h"
#include "syncline/Step.h"

#include <nccl.h>

namespace syncline::cuda {

/// The failure of an NCCL call, or of a communicator that was queried later.
struct NcclFailure : Failure {
  ncclResult_t status;
};

/// Throws the NcclFailure of a call that did not succeed: peerLost where NCCL reports that another
/// rank failed, badInput for what the machine or the environment lacks, otherwise internal.
/// `handle` may be null; with it NCCL's message has more details. ncclInProgress counts as success,
/// because the call continues in the background.
void check(ncclResult_t status, std::string_view call, ncclComm_t handle = nullptr);

/// As SYNCLINE_CHECK() for a call on a communicator.
#define SYNCLINE_CHECK_ON(handle, ...)                                                             \
  ::syncline::cuda::check(__VA_ARGS__, ::syncline::cuda::nameInCall(#__VA_ARGS__), handle)

/// The failure of a call. Precondition: the status is neither success nor ncclInProgress.
NcclFailure failureOf(ncclResult_t status, std::string_view call, ncclComm_t handle = nullptr);

ncclDataType_t ncclTypeOf(ElementType type);

/// The version of the loaded library: "NCCL 2.28.9".
std::string ncclVersion();
/// Ok when the loaded library has the header's major version; otherwise badInput that names
/// both versions.
Status checkNcclVersion();

} // namespace syncline::cuda
