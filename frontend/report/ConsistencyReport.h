// What consistencies trade, as text, CSV, JSON and as a picture: time a step for staleness.
#pragma once

#include "frontend/sweep/ConsistencySweep.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// A line a consistency, then what was refused, what the columns mean, and what the fastest trades.
std::string consistencyTable(const sweep::ConsistencySweep &sweep);
/// consistencyTable() with a line a rank below, for one consistency. Precondition: one point.
std::string consistencyReport(const sweep::ConsistencySweep &sweep);
/// One row a consistency; the header has the units. What was refused has its reason in the last
/// column and nothing between.
std::string consistencyCsv(const sweep::ConsistencySweep &sweep);
/// Every number of one consistency.
nlohmann::json consistencyJson(const sweep::ConsistencyPoint &point);
/// A dot for each consistency: the seconds of a step over the mean staleness.
std::string consistencySvg(const sweep::ConsistencySweep &sweep, const std::string &title);

} // namespace syncline::report
