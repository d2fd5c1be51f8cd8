// The loop of all measurements.
#include "runtime/calibrate/Repeat.h"

#include <algorithm>

namespace syncline::calibrate {

Result<std::vector<Summary>> repeat(std::span<const Sample> conditions, const Patience &patience,
                                    const std::function<double()> &now) {
  std::vector<std::vector<double>> samples(conditions.size());
  std::vector<Summary> summaries(conditions.size());
  for (int round = -patience.warmUps; round < patience.most; ++round) {
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      Result<double> sample = conditions[i]();
      if (!sample)
        return sample.status();
      if (round >= 0)
        samples[i].push_back(*sample);
    }
    if (round + 1 < patience.least)
      continue;
    std::transform(samples.begin(), samples.end(), summaries.begin(), summarize);
    if (now() >= patience.until ||
        std::all_of(summaries.begin(), summaries.end(),
                    [&](const Summary &s) { return isStable(s, patience.share, patience.enough); }))
      break;
  }
  return summaries;
}

} // namespace syncline::calibrate
