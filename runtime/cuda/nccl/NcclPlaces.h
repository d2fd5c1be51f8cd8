// Finding where the ranks' devices are.
#pragma once

#include "runtime/cuda/nccl/NcclEnvironment.h"

namespace syncline::cuda {

/// comparePlaces() for all ranks, which call it together with the same key; a key is used once.
/// `device` is the caller's device. Further errors: peerLost.
Result<DevicePlaces> meetPlaces(core::Peers &peers, const std::string &key, int device,
                                bool mayShare);

} // namespace syncline::cuda
