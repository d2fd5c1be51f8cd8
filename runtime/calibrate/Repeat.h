// Repeating measurements until the median is stable or the time is over.
#pragma once

#include "runtime/calibrate/Statistics.h"
#include "syncline/Status.h"

#include <functional>
#include <span>

namespace syncline::calibrate {

/// When to stop measuring.
struct StopRule {
  double share = 0.03;                  ///< tolerance of isStable() for every median
  int minRounds = 3;                    ///< least number of rounds, even without time
  int stableRounds = fewestForInterval; ///< least number of rounds for a stable median
  int warmUps = 1; ///< discarded rounds at the start, which fill caches and connections' windows
  int maxRounds = 200;
  double until = 0; ///< a time by `now`; no round begins after it
};

/// Takes one measurement of one condition.
using Sample = std::function<Result<double>()>;

/// Measures twice and returns the second measurement. The first one prepares: a device loads its
/// kernels in it.
Result<double> takeWarm(const Sample &sample);

/// Removes from values, of which every round of repeat() has appended one, those of warm-ups.
void removeWarmUps(std::vector<double> &values, const Summary &counted);

/// Takes one sample of each condition in turn, so that drift affects all conditions alike, until
/// all medians are stable or the rule ends the measurement. Samples and `now` must return the same
/// values on all ranks, so that all ranks stop together.
Result<std::vector<Summary>> repeat(std::span<const Sample> conditions, const StopRule &rule,
                                    const std::function<double()> &now);

} // namespace syncline::calibrate
