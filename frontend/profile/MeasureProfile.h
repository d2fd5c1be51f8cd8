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
  std::string cluster; ///< of its devices a node; empty for none
  std::string output;
  std::vector<std::string> compiling; ///< what `compile` is told besides, for a model
  std::string precision;              ///< as `syncline run --precision`; empty for its default
  std::optional<int> ranks; ///< at a time, at most maxLocalRanks; default: devices of a node
  bool pin = false;         ///< each to a processor
  int threads = 1;
  double momentum = 0.9;

  std::string trace, map; ///< a PyTorch trace instead of a source, and its layers
};

/// Compiles a model for one rank, in a temporary folder; then so many ranks run side by side, on
/// GPUs each on its own, without talking, until the first one's median step stands still. The
/// profile bears the model's name and the cluster's. Errors: those of the cluster file, more ranks
/// than maxLocalRanks, and what the programs that do the work say.
Result<MeasuredProfile> measureProfile(const ProfileOptions &options);

} // namespace syncline::profile
