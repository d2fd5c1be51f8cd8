// What `syncline simulate` does, without its command line.
#pragma once

#include "frontend/sweep/SweepAxis.h"
#include "syncline/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace syncline::driver {

struct SimulateOptions {
  std::string plan;    ///< folder
  std::string cluster; ///< YAML; empty: the plan's
  std::uint64_t seed = 0;
  double jitter = 0;                        ///< 0.05 is 5 %
  std::vector<std::pair<int, double>> slow; ///< ranks, and how many times as long they compute
  int steps = 1;
  bool json = false;
  std::string trace; ///< file to write; empty for none
  std::vector<SweepAxis> sweeps;
  std::optional<int> points; ///< of a sweep; doubling where absent
  bool replan = true;
  std::string csv, plot; ///< files to write; of one sweep
};

/// Reads the plan, simulates it and prints the result.
Status simulatePlan(const SimulateOptions &options);

} // namespace syncline::driver
