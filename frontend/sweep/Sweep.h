// A sweep's points: what was simulated at every value of an axis.
#pragma once

#include "frontend/sweep/BreakEven.h"
#include "frontend/sweep/SweepAxis.h"
#include "passes/problem/CollectiveCost.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace syncline::sweep {

/// The simulation at one value of the axis.
struct SweepPoint {
  double value = 0;
  double step = 0, exposed = 0, communicationEnd = 0; ///< seconds
  double compute = 0; ///< seconds of a step without any waiting, on the slowest rank
  std::int64_t ranks = 1;
  double samples = 0;    ///< samples of one rank in a step; 0 where a trace does not say
  double alone = 0;      ///< seconds of one device's step that sends nothing; 0 where unknown
  bool hasWhole = false; ///< some messages took their cost: too long to expand
  Overlap overlap = Overlap::backward;
  /// How much longer than the bound the planned step is, relative to the bound; unknown where
  /// nothing was planned.
  std::optional<double> gap = std::nullopt;
  /// Each gradient's scheme and the numbers of its messages, in the problem's order; several where
  /// it is cut. Empty for a single rank, which sends nothing.
  std::vector<Scheme> schemes;
  std::vector<std::vector<int>> messages;

  /// The scaling efficiency, as report::Throughput has it; 0 where it is unknown.
  double efficiency() const { return step > 0 ? alone / step : 0; }
  bool sends() const { return !schemes.empty(); }
  int messageCount() const {
    std::set<int> all;
    for (const std::vector<int> &own : messages)
      all.insert(own.begin(), own.end());
    return static_cast<int>(all.size());
  }
};

/// A value of the axis without a point, and why it has none.
struct SkippedValue {
  double value = 0;
  std::string reason;
};

struct Sweep {
  SweepAxis axis;
  bool replanned = false;
  std::vector<std::string> gradients;     ///< names
  std::vector<SweepPoint> points;         ///< values ascend; at least one, but in a grid's column
  std::vector<SkippedValue> skipped = {}; ///< ascending
  std::optional<BreakEven> breakEven = std::nullopt;
};

/// Two axes at once.
struct SweepGrid {
  SweepAxis axis;   ///< of every column
  SweepAxis across; ///< a column for each of its values
  std::vector<double> values;
  std::vector<Sweep> columns; ///< some may have no points, not all
};

} // namespace syncline::sweep
