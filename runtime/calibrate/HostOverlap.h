// Computation beside messages that the host carries.
#pragma once

#include "runtime/calibrate/Overlap.h"

namespace syncline::calibrate {

/// All ranks together; all outlive the result. Errors: peerLost.
Result<std::unique_ptr<Overlap>> openHostOverlap(transport::Transport &transport, Team &team,
                                                 Device &device);

} // namespace syncline::calibrate
