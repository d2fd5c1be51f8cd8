// Computing order statistics.
#include "runtime/calibrate/Statistics.h"

#include <algorithm>
#include <cmath>

namespace syncline::calibrate {
namespace {

/// A quantile of sorted samples, linear between neighbours.
double quantile(const std::vector<double> &sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

/// The number of samples outside the interval at each end: the largest d with P(X <= d) <= 2.5 %
/// for X ~ Binomial(n, 1/2), the number of samples below the true median.
int outsideEachEnd(int n) {
  double cumulated = 0;
  for (int d = 0; d < n; ++d) {
    cumulated += std::exp(std::lgamma(n + 1) - std::lgamma(d + 1) - std::lgamma(n - d + 1) -
                          n * std::log(2));
    if (cumulated > 0.025)
      return d - 1;
  }
  return -1;
}

} // namespace

Summary summarize(std::vector<double> samples) {
  if (samples.empty())
    return {};
  std::sort(samples.begin(), samples.end());
  Summary s;
  s.samples = static_cast<int>(samples.size());
  s.median = quantile(samples, 0.5);
  s.lowerQuartile = quantile(samples, 0.25);
  s.upperQuartile = quantile(samples, 0.75);
  const int outside = std::max(outsideEachEnd(s.samples), 0);
  s.low = samples[outside];
  s.high = samples[samples.size() - 1 - outside];
  return s;
}

bool isStable(const Summary &summary, double share, int fewest) {
  return summary.samples >= fewest && summary.median - summary.low <= share * summary.median &&
         summary.high - summary.median <= share * summary.median;
}

} // namespace syncline::calibrate
