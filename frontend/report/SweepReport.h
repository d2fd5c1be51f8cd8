// A sweep's points as a table, as CSV and as a picture.
#pragma once

#include "frontend/report/Throughput.h"
#include "frontend/sweep/Sweep.h"

#include <string>
#include <vector>

namespace syncline::report {

/// The point's samples per second and scaling efficiency.
Throughput throughputOf(const sweep::SweepPoint &point);

/// Whether a rate exceeds another by more than rounding, so that the first of equal ones is named.
inline bool isMore(double rate, double other) { return rate > other * (1 + 1e-9); }

/// A value of a sweep's axis: a point, or why there is none.
struct SweptValue {
  double value = 0;
  const sweep::SweepPoint *point = nullptr;
  const sweep::SkippedValue *skipped = nullptr; ///< where there is no point
};

/// All values, ascending. They refer to the sweep.
std::vector<SweptValue> sweptValues(const sweep::Sweep &sweep);

/// Pieces of CSV: a value of an axis, the columns behind the axes, and a line's rest.
std::string csvCell(const sweep::SweepAxis &axis, double value);
extern const char *const csvPointColumns;
std::string csvPoint(const sweep::SweepPoint &point);
std::string csvSkipped(const sweep::SkippedValue &value);

/// "left out: ranks 16, 32, at bandwidth 1 Gb/s: needs .."; a line for neighbours of one reason.
/// `where` stands behind the values.
std::string leftOutText(const sweep::Sweep &sweep, const std::string &where = "");

/// A line: "from bandwidth 78 Gb/s on efficiency is above 90 %"; empty where nothing is known.
std::string breakEvenText(const sweep::Sweep &sweep);

/// A table with one line a point, then what was left out, where efficiency passes the threshold,
/// and where decisions change.
std::string sweepTable(const sweep::Sweep &sweep);
/// CSV with one row a value, ascending; the header has the units. A value that was left out has its
/// reason in the last column and nothing between.
std::string sweepCsv(const sweep::Sweep &sweep);
/// Step, computation and exposed communication over the values, both axes logarithmic, and below
/// them the scaling efficiency, from 0 to 100 %. What was left out is a cross on the axis.
std::string sweepSvg(const sweep::Sweep &sweep, const std::string &title);

/// Two tables with a line for each value of the axis and a column for each of the other axis: the
/// steps, and the efficiency where it is known. Then what was left out and where
/// efficiency passes the threshold, column by column.
std::string gridTable(const sweep::SweepGrid &grid);
/// CSV as sweepCsv(), with both axes' values in front; column by column.
std::string gridCsv(const sweep::SweepGrid &grid);
/// A line for each value of the other axis over the values of the axis: efficiency from 0 to 100 %,
/// or steps where that is unknown. Precondition: the axis has numbers.
std::string gridSvg(const sweep::SweepGrid &grid, const std::string &title);

} // namespace syncline::report
