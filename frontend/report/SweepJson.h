// Sweeps as lines of JSON, one a value, for programs.
#pragma once

#include "frontend/sweep/ConsistencySweep.h"
#include "frontend/sweep/Sweep.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// A line for each value, ascending: `common`, where it is, and its numbers or why it was left out.
/// README.md lists the keys.
std::string sweepJsonLines(const sweep::Sweep &sweep, const nlohmann::json &common);
/// As above, column by column, with both axes' values.
std::string gridJsonLines(const sweep::SweepGrid &grid, const nlohmann::json &common);
/// A line for each consistency, then one for each that was refused.
std::string consistencyJsonLines(const sweep::ConsistencySweep &sweep,
                                 const nlohmann::json &common);

} // namespace syncline::report
