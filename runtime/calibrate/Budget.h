// Sharing the time among stages and message sizes. Pure functions.
#pragma once

#include <span>

namespace syncline::calibrate {

/// Messages of at least so many seconds are measured with fewer repetitions. They need no warm-up,
/// and a network burst or a scheduler's slice is a negligible part of them.
inline constexpr double longMessage = 0.1;

/// The least seconds for measuring a message, with repetitions, if one message takes `seconds`.
double minCost(double seconds);

struct Allotment {
  int sizes = 0;    ///< number of the first sizes for which there is time
  double spare = 0; ///< seconds left after measuring these as briefly as possible; at least 0
};

/// Chooses sizes for `seconds`. `costs` are the least seconds of each size, for all schemes,
/// shortest messages first.
Allotment allot(std::span<const double> costs, double seconds);

/// When a stage begins, where stages before use up their time, and when it ends: parts of the whole
/// calibration's time, 0 <= begin < end <= 1.
struct StageTime {
  double begin = 0, end = 1;
};

/// Seconds that a whole calibration needs, for the stage to have `wanted` seconds. Stages before
/// use up their time, or take `taken` seconds where that is more.
double timeFor(double wanted, StageTime stage, double taken);

} // namespace syncline::calibrate
