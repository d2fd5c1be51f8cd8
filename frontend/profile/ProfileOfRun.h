// What a rank alone measured (`syncline-run --op-times`) as a profile.
#pragma once

#include "frontend/files/Profile.h"
#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::profile {

/// Seconds.
struct MeasuredProfile {
  files::Profile profile;
  std::string model;
  std::size_t steps = 0;
  double step = 0, spread = 0; ///< median; between the quartiles
  double operations = 0;       ///< sum of what all operations take
  double forward = 0, backward = 0, updates = 0;
  bool steady = true; ///< the median did not move any more
  enum class Kind {
    medians,
    middle, ///< means of the middle half of the steps
    means,
  } kind = Kind::medians;

  /// The operations' sum is within 2 % of the step.
  bool addsUp() const;
};

/// Times by node: `forward` is the sum over its operations of that phase, `backward` of the others,
/// medians over the steps. Weight gradients that are reconstructed from the factors of all ranks
/// count with one rank's share. Where the medians do not add up to the median step, because
/// operations are interrupted now and then, all are means over the middle half of the steps
/// instead, which do. Where ranks share processors (`sharesProcessors`), all are means over all
/// steps: a step that is shorter than the scheduler's slice is rarely interrupted, but then for
/// long. Errors: badInput for another document.
Result<MeasuredProfile> profileOfTimes(const nlohmann::json &times, bool sharesProcessors = false);

/// Some lines for people: model, steps, sums, whether they add up.
std::string profileSummary(const MeasuredProfile &measured);

} // namespace syncline::profile
