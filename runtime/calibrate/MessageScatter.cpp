// Pools the samples of all sizes.
#include "runtime/calibrate/MessageScatter.h"

#include <algorithm>

namespace syncline::calibrate {
namespace {

struct Ratio {
  double times = 1, weight = 0;
};

bool counts(const SizeFinding &size) {
  return size.single.size() >= static_cast<std::size_t>(fewestForInterval) &&
         size.seconds.median > 0;
}

} // namespace

MessageScatter messageScatter(const std::vector<SchemeFinding> &schemes) {
  MessageScatter scatter;
  std::vector<Ratio> ratios;
  for (const SchemeFinding &scheme : schemes)
    for (const SizeFinding &size : scheme.sizes) {
      if (!counts(size))
        continue;
      ++scatter.sizes;
      scatter.samples += static_cast<int>(size.single.size());
      for (const double seconds : size.single)
        ratios.push_back(
            {seconds / size.seconds.median, 1 / static_cast<double>(size.single.size())});
    }
  std::ranges::sort(ratios, {}, &Ratio::times);
  double before = 0;
  for (const Ratio &ratio : ratios) {
    before += ratio.weight / scatter.sizes;
    // Rounding leaves the sum below the last quantile's part by no more than this.
    constexpr double rounding = 1e-9;
    while (scatter.factors.size() < MessageScatter::quantiles &&
           (static_cast<double>(scatter.factors.size()) + 0.5) / MessageScatter::quantiles <=
               before + rounding)
      scatter.factors.push_back(ratio.times);
  }
  return scatter;
}

} // namespace syncline::calibrate
