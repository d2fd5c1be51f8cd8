// Computation beside messages, both on a device.
#pragma once

#include "runtime/calibrate/DeviceChannels.h"
#include "runtime/calibrate/Overlap.h"

namespace syncline::calibrate {

/// `team` and `device` outlive the result.
std::unique_ptr<Overlap> createDeviceOverlap(Team &team, Device &device,
                                             std::shared_ptr<DeviceChannels> channels);

} // namespace syncline::calibrate
