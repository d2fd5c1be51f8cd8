// What repeated measurements of one thing tell: medians and how sure they are. Pure functions.
#pragma once

#include <vector>

namespace syncline::calibrate {

/// Of samples in seconds, or of ratios. Nothing is averaged, so an outlier moves the quartiles and
/// the interval, which are reported, but hardly the median.
struct Summary {
  int samples = 0;
  double median = 0;
  double lowerQuartile = 0, upperQuartile = 0;
  /// Where the median of endless samples lies with 95 % confidence, whatever the distribution: two
  /// of the samples, by the binomial distribution of how many are below it. Fewer than six samples
  /// cannot tell that much; then the smallest and the largest one.
  double low = 0, high = 0;

  /// Half the interval, relative to the median; 0 for a median of 0.
  double uncertainty() const { return median > 0 ? (high - low) / (2 * median) : 0; }
};

/// The fewest samples that give a 95 % interval.
inline constexpr int fewestForInterval = 6;

/// All zero for no samples.
Summary summarize(std::vector<double> samples);

/// Whether the 95 % interval of the median, of at least `fewest` samples, lies within `share` of
/// it, both ways.
bool isStable(const Summary &summary, double share, int fewest = fewestForInterval);

} // namespace syncline::calibrate
