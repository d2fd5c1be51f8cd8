// A sweep's points: what was simulated at every value of an axis.
#pragma once

#include "frontend/sweep/SweepAxis.h"
#include "passes/problem/CollectiveCost.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace syncline::sweep {

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
  std::vector<Scheme> schemes;
  std::vector<int> messages;

  int messageCount() const {
    return static_cast<int>(std::set<int>(messages.begin(), messages.end()).size());
  }
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

} // namespace syncline::sweep
