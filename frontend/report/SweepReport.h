// A sweep's points as a table, as CSV and as a picture.
#pragma once

#include "frontend/report/Throughput.h"
#include "frontend/sweep/Sweep.h"

#include <string>

namespace syncline::report {

/// The point's samples per second and scaling efficiency.
Throughput throughputOf(const sweep::SweepPoint &point);

/// A table with one line a point, then what was left out, then where decisions change.
std::string sweepTable(const sweep::Sweep &sweep);
/// CSV with one row a value, ascending; the header has the units. A value that was left out has its
/// reason in the last column and nothing between.
std::string sweepCsv(const sweep::Sweep &sweep);
/// Step, computation and exposed communication over the values, both axes logarithmic, and below
/// them the scaling efficiency, from 0 to 100 %. What was left out is a cross on the axis.
std::string sweepSvg(const sweep::Sweep &sweep, const std::string &title);

} // namespace syncline::report
