// Measuring until the median is stable or the time is over.
#pragma once

#include "runtime/calibrate/Statistics.h"
#include "syncline/Status.h"

#include <functional>
#include <span>

namespace syncline::calibrate {

/// When to stop.
struct StopRule {
  double share = 0.03;                  ///< isStable() of every median
  int minRounds = 3;                    ///< rounds, whatever the time
  int stableRounds = fewestForInterval; ///< rounds, when the medians are stable
  int warmUps = 1; ///< rounds before these that are thrown away: connections' windows, caches
  int maxRounds = 200;
  double until = 0; ///< a point in time, as `now` tells it; rounds begun before are finished
};

/// One measurement of one condition.
using Sample = std::function<Result<double>()>;

/// Takes one sample of each condition in turn, so that what drifts hits all of them alike, until
/// the medians of all are stable or patience ends. Samples and `now` give the same on all ranks;
/// then all stop alike.
Result<std::vector<Summary>> repeat(std::span<const Sample> conditions, const StopRule &rule,
                                    const std::function<double()> &now);

} // namespace syncline::calibrate
