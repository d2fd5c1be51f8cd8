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

/// The part of a calibration's time at which a stage begins, if stages before use up theirs, and
/// that at which it ends. At least 0, at most 1.
struct StageTime {
  double begin = 0, end = 1;
};

/// Seconds of a calibration in which the stage has `wanted` seconds, also where stages before take
/// `taken` seconds.
double timeFor(double wanted, StageTime stage, double taken);

} // namespace syncline::calibrate
