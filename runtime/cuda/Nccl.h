// NCCL's statuses as our errors, and its names of types.
#pragma once

#include "runtime/cuda/Check.h"
#include "syncline/Step.h"

#include <nccl.h>

namespace syncline::cuda {

/// What a call of NCCL's, or a communicator asked later, said.
struct NcclFailure : Failure {
  ncclResult_t status;
};

/// Throws the NcclFailure of a call that did not succeed: peerLost where NCCL says that another
/// rank broke, badInput for what the machine or the environment lacks, internal for all else.
/// `handle` may be null; NCCL has more to say with it. ncclInProgress is a success: the call goes
/// on beside the caller.
void check(ncclResult_t status, const char *call, ncclComm_t handle = nullptr);

/// The failure itself. Precondition: neither success nor in progress.
NcclFailure failureOf(ncclResult_t status, const char *call, ncclComm_t handle = nullptr);

ncclDataType_t ncclTypeOf(ElementType type);

/// Of what was loaded: "NCCL 2.28.9".
std::string ncclVersion();
/// Whether the library that was loaded is of the header's major version; badInput that names both.
Status checkNcclVersion();

} // namespace syncline::cuda
