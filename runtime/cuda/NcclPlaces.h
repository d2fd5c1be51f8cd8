// Where the ranks' devices are.
#pragma once

#include "runtime/cuda/NcclEnvironment.h"

namespace syncline::cuda {

/// comparePlaces() of all ranks, which call it together with the same key, used once; `device` is
/// the caller's. Errors also: peerLost.
Result<DevicePlaces> meetPlaces(Peers &peers, const std::string &key, int device, bool mayShare);

} // namespace syncline::cuda
