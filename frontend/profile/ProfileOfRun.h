// A profile from the times that one rank alone measured (`syncline-run --op-times`).
#pragma once

#include "frontend/files/Profile.h"
#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::profile {

/// A profile and facts about its measurement; times in seconds.
struct MeasuredProfile {
  files::Profile profile;
  std::string model;
  std::size_t steps = 0;
  double step = 0, spread = 0; ///< median step; distance between its quartiles
  double operations = 0;       ///< sum of all operations' times
  double forward = 0, backward = 0, updates = 0;
  int ranks = 1;      ///< that ran side by side
  bool steady = true; ///< the median had stopped moving
  enum class Kind {
    medians,
    middle, ///< means of the middle half of the steps
    means,
  } kind = Kind::medians;

  /// Whether the operations' sum is within 2 % of the step.
  bool addsUp() const;
};

/// Times by node, as medians over the steps: `forward` sums the node's operations of that phase,
/// `backward` all its others. Weight gradients that are reconstructed from the factors of all ranks
/// count with one rank's share. Interrupted operations may keep the medians from adding up to the
/// median step; then all times are means over the middle half of the steps, which add up. Where
/// ranks share processors (`sharesProcessors`), all times are means over all steps: a step shorter
/// than the scheduler's slice is rarely interrupted, but then for long.
///
/// The profile's `overhead` is what a whole step takes beyond the operations. Of `ranks` ranks that
/// wait for each other's messages the slowest decides, so the median of the slowest of so many
/// steps counts, and at least what one rank's steps take beyond. A trend that steps follow together
/// is no waiting. Where ranks share processors it is
/// a mean without waiting. Errors: badInput for a document of another form.
Result<MeasuredProfile> profileOfTimes(const nlohmann::json &times, int ranks = 1,
                                       bool sharesProcessors = false);

/// Some lines for people: model, steps, sums, whether they add up.
std::string profileSummary(const MeasuredProfile &measured);

} // namespace syncline::profile
