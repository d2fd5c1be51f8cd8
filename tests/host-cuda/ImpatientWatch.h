// Ends waits of the host that would hang a test.
#pragma once

#include "runtime/core/Deadline.h"
#include "runtime/cuda/HostWait.h"
#include "tests/support/Patience.h"

namespace syncline::cuda {

/// A watch that fails when a test's patience has ended.
inline DeviceWatch impatient() {
  return [start = core::Clock::now()] {
    return core::secondsSince(start) < test::patience
               ? Status::ok()
               : Status::error(ErrorKind::peerLost, "waited in vain");
  };
}

} // namespace syncline::cuda
