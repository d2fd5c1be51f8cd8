// The command line of syncline-calibrate.
#pragma once

#include "runtime/launch/DeviceFlags.h"
#include "runtime/launch/Identity.h"
#include "syncline/Scheme.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline::calibrate {

struct CalibrateOptions : DeviceFlags {
  IdentityFlags identity;
  std::string output; ///< empty: standard output
  std::string name = "calibrated";
  double seconds = 60;
  std::vector<std::int64_t> sizes; ///< ascending; empty: the default ones
  std::vector<Scheme> schemes;     ///< empty: all that the ranks can use
  bool quiet = false;
  int threads = 1;
  double startTimeout = 60, timeout = 30; ///< seconds

  /// What all ranks must have alike, as text.
  std::string sharedOptions() const;
  /// What the written file says of how it was measured: "compute threads a rank: 4".
  std::string conditions() const;
};

/// Parses; on --help or an error prints and gives the exit code.
std::optional<int> parseCalibrateOptions(int argc, char **argv, CalibrateOptions &options);

} // namespace syncline::calibrate
