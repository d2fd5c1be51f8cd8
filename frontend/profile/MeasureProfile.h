// `syncline profile`: runs a model's step on this machine and takes the times of its operations.
#pragma once

#include "frontend/profile/ProfileOfRun.h"
#include "syncline/PlanConstants.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::profile {

struct ProfileOptions {
  std::string source;  ///< ONNX model, or a plan folder
  std::string cluster; ///< cluster file that states devices per node; empty for none
  std::string output;
  std::vector<std::string> compiling; ///< further words of `compile`, for a model
  std::optional<int> ranks; ///< ranks at a time, 1 to maxLocalRanks; default: devices of a node
  bool pin = false;         ///< bind each rank to as many processors as it has threads
  int threads = 1;

  std::string trace, map; ///< trace instead of a source; map of its events
};

/// Compiles a model for one rank in a temporary folder. Then runs `ranks` ranks side by side, which
/// do not communicate, until the median step of the first is steady; on GPUs each has its own. The
/// profile is named after the model and the cluster. Errors: those of the cluster file, more ranks
/// than maxLocalRanks, and those of the programs that compile and run.
Result<MeasuredProfile> measureProfile(const ProfileOptions &options);

} // namespace syncline::profile
