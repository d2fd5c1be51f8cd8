// How much the time of a message scatters, from samples of all sizes and schemes. Pure functions.
//
// A size by a scheme has n samples t and their median m. Each of its ratios t/m counts 1/n. The
// result are the quantiles of all ratios together at (k - 1/2)/K for k from 1 to K, where a
// quantile is the least ratio at which the counts so far reach that part of all.
//
// The reasons. By their own median sizes and schemes can be compared, and what changes slowly
// between two measurements is no scatter. A measurement goes on for longer where times scatter
// more (Repeat.h), so samples that count alike would exaggerate. An outlier changes the last
// quantiles alone, by its part of all counts. Means of several messages hide how one scatters, so
// only samples of one message count. Of fewer than fewestForInterval samples the median is too
// near to each, so they do not count.
#pragma once

#include "runtime/calibrate/Findings.h"

#include <vector>

namespace syncline::calibrate {

struct MessageScatter {
  /// K, the number of disturbed steps that a planner draws, so that a message meets each quantile
  /// as often as any other.
  static constexpr int quantiles = 32;

  std::vector<double> factors; ///< how many times its median a message takes; ascending, or empty
  int samples = 0, sizes = 0;  ///< that count
};

/// Empty where no size has enough samples.
MessageScatter messageScatter(const std::vector<SchemeFinding> &schemes);

} // namespace syncline::calibrate
