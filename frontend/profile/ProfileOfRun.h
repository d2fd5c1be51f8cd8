// A profile from the times that one rank measured (`syncline-run --op-times`), and from the steps
// of those beside it.
#pragma once

#include "frontend/files/Profile.h"
#include "frontend/profile/RankSteps.h"
#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

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

/// What ran beside the measured rank.
struct SideBySide {
  std::vector<RankSteps> others;
  double end = 0;                ///< when the measured rank's last step was over, on their clock
  bool sharesProcessors = false; ///< whether there were more ranks than processors
};

/// Times by node, as medians over the steps: `forward` sums the node's operations of that phase,
/// `backward` all its others. Weight gradients that are reconstructed from the factors of all ranks
/// count with one rank's share. Interrupted operations may keep the medians from adding up to the
/// median step; then all times are means over the middle half of the steps, which add up. Where
/// ranks share processors (`sharesProcessors`), all times are means over all steps: a step shorter
/// than the scheduler's slice is rarely interrupted, but then for long.
///
/// The profile's `overhead` is what a whole step takes beyond the operations. Its `scatter` is how
/// many times as long as both each whole step took, at most 64 that are evenly spread, and the
/// steps of other ranks that were under way at their middles. Where ranks share processors there is
/// none. Errors: badInput for a document of another form.
Result<MeasuredProfile> profileOfTimes(const nlohmann::json &times, const SideBySide &beside = {});

/// Some lines for people: model, steps, sums, whether they add up.
std::string profileSummary(const MeasuredProfile &measured);

} // namespace syncline::profile
