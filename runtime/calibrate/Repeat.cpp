// The loop over rounds of samples.
#include "runtime/calibrate/Repeat.h"

#include <algorithm>

namespace syncline::calibrate {

Result<double> takeWarm(const Sample &sample) {
  Result<double> first = sample();
  return first ? sample() : first;
}

void removeWarmUps(std::vector<double> &values, const Summary &counted) {
  values.erase(values.begin(), values.end() - counted.samples);
}

Result<std::vector<Summary>> repeat(std::span<const Sample> conditions, const StopRule &rule,
                                    const std::function<double()> &now) {
  std::vector<std::vector<double>> samples(conditions.size());
  std::vector<Summary> summaries(conditions.size());
  for (int round = -rule.warmUps; round < rule.maxRounds; ++round) {
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      SYNCLINE_TRY_GET(sample, conditions[i]());
      if (round >= 0)
        samples[i].push_back(*sample);
    }
    if (round + 1 < rule.minRounds)
      continue;
    std::transform(samples.begin(), samples.end(), summaries.begin(), summarize);
    if (now() >= rule.until ||
        std::all_of(summaries.begin(), summaries.end(),
                    [&](const Summary &s) { return isStable(s, rule.share, rule.stableRounds); }))
      break;
  }
  return summaries;
}

} // namespace syncline::calibrate
