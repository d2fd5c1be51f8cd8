// Sweeps as lines of JSON, one a value, for programs.
#pragma once

#include "frontend/sweep/ConsistencySweep.h"
#include "frontend/sweep/Sweep.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// A line for each value, ascending, with the keys of `common` and these. Times are in seconds;
/// null stands for unknown. What is not said here README.md says.
/// - `schema`, `version`: "syncline-sweep", 1
/// - `at`: the axes' values, by the columns of --csv
/// - `left_out`: null, or why the value has no point, and none of the keys below
/// - `ranks`, `step`, `exposed`, `communication_end`, `samples_per_second`, `efficiency`
/// - `compute`: a step without any waiting, on the slowest rank
/// - `messages`: how many a step has
/// - `by_cost`: some messages took their stated time and were not expanded
/// - `overlap`: "backward" or "step"; null where nothing is sent
/// - `gap`: by which part of the bound the planned step is longer; null where nothing was planned
/// - `schemes`: how many gradients travel by each
std::string sweepJsonLines(const sweep::Sweep &sweep, const nlohmann::json &common);
/// As above, column by column, with both axes' values.
std::string gridJsonLines(const sweep::SweepGrid &grid, const nlohmann::json &common);
/// A line for each consistency, then one for each that was refused.
std::string consistencyJsonLines(const sweep::ConsistencySweep &sweep,
                                 const nlohmann::json &common);

} // namespace syncline::report
