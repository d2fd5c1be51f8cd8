// What `syncline simulate` does, without its command line.
#pragma once

#include "frontend/sweep/SweepOptions.h"
#include "syncline/Status.h"

#include <string>
#include <vector>

namespace syncline::driver {

/// `slow`, `jitter`, `seed` and `steps` hold for one simulation and for every point of a sweep.
struct SimulateOptions : sweep::SweepOptions {
  std::string plan;    ///< folder
  std::string cluster; ///< cluster file (YAML); empty: the plan's cluster
  bool json = false;
  std::string trace; ///< file to write; empty for none
  std::vector<sweep::SweepAxis> sweeps;
  std::vector<std::vector<std::string>> consistencySweeps; ///< each a list of forms
  std::string csv, plot; ///< files to write for the only sweep or grid; empty for none

  /// Whether the sweeps are the two axes of a grid.
  bool sweepsGrid() const { return sweeps.size() == 2 && consistencySweeps.empty(); }
};

/// Reads the plan, simulates it and prints the result.
Status simulatePlan(const SimulateOptions &options);

} // namespace syncline::driver
