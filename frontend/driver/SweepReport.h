// A sweep's points as a table, as CSV and as a picture.
#pragma once

#include "frontend/driver/SweepAxis.h"
#include "passes/solver/CollectiveCost.h"

#include <string>
#include <vector>

namespace syncline::driver {

/// One point.
struct SweepPoint {
  double value = 0;
  double step = 0, exposed = 0, communicationEnd = 0; ///< seconds
  double compute = 0;    ///< of a step without any waiting, on the slowest rank
  bool hasWhole = false; ///< messages were taken at their cost, being too long to unfold
  /// By gradient, in the problem's order: how it travels, and the number of its message.
  std::vector<solver::Scheme> schemes;
  std::vector<int> messages;

  int messageCount() const;
};

struct Sweep {
  SweepAxis axis;
  bool replanned = false;
  std::vector<std::string> gradients; ///< names
  std::vector<SweepPoint> points;     ///< at least one, values ascending
};

/// One line a point, then where decisions are others than at the point before.
std::string sweepTable(const Sweep &sweep);
/// One row a point: the value in base units (bytes/s, s), seconds, the number of messages.
std::string sweepCsv(const Sweep &sweep);
/// Step, computation and exposed communication over the values, both axes logarithmic.
std::string sweepSvg(const Sweep &sweep, const std::string &title);

} // namespace syncline::driver
