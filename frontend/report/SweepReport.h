// A sweep's points as a table, as CSV and as a picture.
#pragma once

#include "frontend/sweep/SweepAxis.h"
#include "frontend/report/Throughput.h"
#include "passes/problem/CollectiveCost.h"

#include <string>
#include <vector>

namespace syncline::driver {

/// One point.
struct SweepPoint {
  double value = 0;
  double step = 0, exposed = 0, communicationEnd = 0; ///< seconds
  double compute = 0; ///< of a step without any waiting, on the slowest rank
  std::int64_t ranks = 1;
  double samples = 0;    ///< of one rank in a step; 0 where a trace does not say
  double alone = 0;      ///< seconds of one device's step that sends nothing; 0 where unknown
  bool hasWhole = false; ///< messages were taken at their cost, being too long to unfold
  /// By gradient, in the problem's order: how it travels, and the number of its message. Empty of
  /// one rank, which sends nothing.
  std::vector<solver::Scheme> schemes;
  std::vector<int> messages;

  int messageCount() const;
  Throughput throughput() const { return {ranks, samples, step, alone}; }
};

/// A value that is no point, and why.
struct LeftOut {
  double value = 0;
  std::string reason;
};

struct Sweep {
  SweepAxis axis;
  bool replanned = false;
  std::vector<std::string> gradients; ///< names
  std::vector<SweepPoint> points;     ///< at least one, values ascending
  std::vector<LeftOut> leftOut = {};  ///< ascending
};

/// One line a point; what was left out; where decisions are others than at the point before.
std::string sweepTable(const Sweep &sweep);
/// One row a value, in ascending order; the header has the units. What was left out has its reason
/// in the last column, and nothing between.
std::string sweepCsv(const Sweep &sweep);
/// Step, computation and exposed communication over the values, both axes logarithmic, and below
/// them the scaling efficiency, from 0 to 100 %. What was left out is a cross on the axis.
std::string sweepSvg(const Sweep &sweep, const std::string &title);

} // namespace syncline::driver
