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

struct CalibrateOptions : launch::DeviceFlags {
  launch::IdentityFlags identity;
  std::string output; ///< empty for standard output
  double seconds = 60;
  std::vector<std::int64_t> sizes; ///< ascending; empty for the default sizes
  std::vector<Scheme> schemes;     ///< empty for all that the ranks can use
  bool quiet = false;
  int threads = 1;
  double startTimeout = 60, timeout = 30; ///< seconds

  /// The options that must be equal on all ranks, as text.
  std::string sharedOptions() const;
  /// The measurement's conditions, for the written file: "compute threads a rank: 4".
  std::string conditions() const;
};

/// Parses the command line. On --help or an error, prints and returns the exit code.
std::optional<int> parseCalibrateOptions(int argc, char **argv, CalibrateOptions &options);

} // namespace syncline::calibrate
