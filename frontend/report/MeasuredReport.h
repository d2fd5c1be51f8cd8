// A plan's predictions beside the measurements of a run.
#pragma once

#include "frontend/files/ChromeTrace.h"
#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

namespace syncline::report {

/// Seconds that a layer's operations take in a step.
using LayerSeconds = std::map<std::string, double>;

struct Comparison {
  std::string report; ///< for people
  double worst = 0;   ///< largest error of the step's and the buckets' ends, a fraction
  std::string whose;  ///< what has that error: "the step", "bucket 3"
};

/// Measured times are medians over the traced steps and ranks, from a rank's first event of the
/// step on. A bucket's end is when its message ends; its message lasts from when the last rank
/// begins it to when the last rank is through, by aligned clocks, so that waiting for a late rank
/// is not the network's fault. Errors are measured / predicted - 1. The table has the worst first;
/// hints follow on what to measure again: layers, the optimizer or a scheme that is off by more
/// than `tolerance`. Layers are compared without what messages beside them cost: that is the
/// cluster's `interference`, by class of operation where it says so.
///
/// `layers` are the plan's predictions, by forward and backward together. Errors: badInput for a
/// trace of another plan, of no steps or without one of the plan's messages, naming it `traceName`,
/// and for a plan that does not follow its schema.
Result<Comparison> compareMeasured(const nlohmann::json &plan, const LayerSeconds &layers,
                                   const files::ChromeTrace &trace, double tolerance,
                                   const std::string &traceName);

} // namespace syncline::report
