// Summaries of repeated measurements: medians and their confidence. Pure functions.
#pragma once

#include <vector>

namespace syncline::calibrate {

/// A summary of samples, in seconds or as ratios. No mean is taken, so an outlier changes the
/// quartiles and the interval, which are reported, but hardly the median.
struct Summary {
  int samples = 0;
  double median = 0;
  double lowerQuartile = 0, upperQuartile = 0;
  /// The 95 % confidence interval of the distribution's median, for any distribution. Its ends are
  /// two of the samples, chosen by the binomial distribution of the number of samples below the
  /// median. With fewer than six samples the interval is from the smallest to the largest sample
  /// and has less confidence.
  double low = 0, high = 0;

  /// Half the interval's length relative to the median; 0 for a median of 0.
  double uncertainty() const { return median > 0 ? (high - low) / (2 * median) : 0; }
};

/// The fewest samples that give a 95 % interval.
inline constexpr int fewestForInterval = 6;

/// The summary of the samples; all zero without samples.
Summary summarize(std::vector<double> samples);

/// Whether there are at least `fewest` samples and both ends of the interval differ from the median
/// by at most `share` of it.
bool isStable(const Summary &summary, double share, int fewest = fewestForInterval);

} // namespace syncline::calibrate
