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
  int steps = 1;
  std::optional<int> points = std::nullopt; ///< how many values; doubling where absent
  bool replan = true;                       ///< false: the plan's decisions stay
};

} // namespace syncline::sweep
