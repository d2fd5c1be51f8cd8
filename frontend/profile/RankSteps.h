// Steps of ranks that ran side by side, as their logs tell them.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <vector>

namespace syncline::profile {

/// Steps that followed each other without a gap, in seconds.
struct RankSteps {
  std::vector<double> seconds;
  double end = 0; ///< when the last one was over, on a clock that all ranks share
};

/// The steps in a log of `syncline-run --log json` that is still being written. They end when the
/// file was last written. Lines of other objects, and one that is not complete yet, are passed
/// over. Errors: badInput where the file cannot be read or has no step.
Result<RankSteps> readSteps(const std::string &log);

/// For each step of one rank the seconds of the other rank's step that was under way at its middle:
/// the first or the last one where there was none.
std::vector<double> stepsBeside(const RankSteps &rank, const RankSteps &other);

/// Seconds of the file clock when the file was last written. Errors: badInput.
Result<double> lastWritten(const std::string &path);

} // namespace syncline::profile
