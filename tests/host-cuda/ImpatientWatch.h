// Ends waits of the host that would hang a test.
#pragma once

#include "runtime/core/Deadline.h"
#include "runtime/cuda/HostWait.h"

namespace syncline::cuda {

/// A watch that fails five seconds after it was made.
inline DeviceWatch impatient() {
  return [start = core::Clock::now()] {
    return core::secondsSince(start) < 5 ? Status::ok()
                                         : Status::error(ErrorKind::peerLost, "waited in vain");
  };
}

} // namespace syncline::cuda
