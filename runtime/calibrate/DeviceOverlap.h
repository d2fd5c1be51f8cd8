// Interference of computation and messages on a device.
#pragma once

#include "runtime/calibrate/DeviceChannels.h"
#include "runtime/calibrate/Overlap.h"

namespace syncline::calibrate {

/// Creates the measurement. `team` and `device` outlive it.
std::unique_ptr<Overlap> createDeviceOverlap(Team &team, Device &device,
                                             std::shared_ptr<DeviceChannels> channels);

} // namespace syncline::calibrate
