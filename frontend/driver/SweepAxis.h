// What a sweep changes: "bandwidth=1Gb/s..100Gb/s".
#pragma once

#include "syncline/Status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::driver {

struct SweepAxis {
  enum class Kind {
    bandwidth, ///< bytes/s of one network card; all other links change in proportion
    latency,   ///< seconds, of the network and of dedicated servers
    ranks,
    batch, ///< samples per rank
    slow,  ///< how many times as long rank 0 computes
  };
  Kind kind = Kind::bandwidth;
  double first = 0, last = 0; ///< first <= last
};

/// "bandwidth", ...
std::string_view axisName(SweepAxis::Kind kind);

/// Reads "AXIS=FIRST..LAST" or "AXIS=VALUE". badUsage where the axis is unknown, a value has no
/// unit or is not in range, or the last is below the first.
Result<SweepAxis> parseSweep(std::string_view text);

/// Values from first to last: doubling, both ends included, or so many in geometric progression.
/// Of ranks and batch whole numbers without repetition, ranks multiples of `devicesPerNode`.
/// Preconditions: points >= 2 where given, devicesPerNode >= 1. Empty where no whole number fits.
std::vector<double> sweepValues(const SweepAxis &axis, std::optional<int> points,
                                int devicesPerNode);

/// "10 Gb/s", "50.0 us", "8".
std::string axisValue(SweepAxis::Kind kind, double value);

} // namespace syncline::driver
