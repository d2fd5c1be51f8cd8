// What every point of a sweep has in common.
#pragma once

#include "frontend/sweep/SweepAxis.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace syncline::sweep {

struct SweepOptions {
  std::uint64_t seed = 0;
  double jitter = 0;                             ///< 0.05 is 5 %
  std::vector<std::pair<int, double>> slow = {}; ///< ranks, and how many times as long they compute
  /// Steps to simulate, one behind the other; absent: 1, or as many as a consistency needs.
  std::optional<int> steps = std::nullopt;
  bool replan = true; ///< false: keep the plan's decisions
  /// What messages may hide behind; absent: as in the plan. An axis of overlaps goes before it.
  std::optional<Overlap> overlap = std::nullopt;
  /// The scaling efficiency of which a sweep says where it is passed, in [0, 1).
  double threshold = 0.9;
};

} // namespace syncline::sweep
