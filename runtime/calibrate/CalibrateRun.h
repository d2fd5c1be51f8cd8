// The calibration of one rank, from joining the others to the file.
#pragma once

#include "runtime/calibrate/CalibrateOptions.h"
#include "runtime/launch/Identity.h"

namespace syncline::calibrate {

/// Runs the calibration. Prints one message on failure. Returns the exit code, or ends the process
/// with it where threads still wait for lost ranks.
int runCalibration(const CalibrateOptions &options, const launch::Identity &identity);

} // namespace syncline::calibrate
