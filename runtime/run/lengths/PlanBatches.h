// The plans of a folder for ranks of unequal batches.
#pragma once

#include "runtime/data/Sampler.h"
#include "runtime/run/plan/Plan.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::run {

/// What a rank computes in a step. The folder's own plan is that of the largest batch; ranks of a
/// smaller one train its parameters by a step of their own.
struct PlanBatches {
  std::optional<Plan> smaller{}; ///< this rank's; nothing where it has the largest batch
  data::BatchShare share;        ///< this rank's samples of a global batch
  std::string hash{};            ///< of batches.json; empty where all ranks have the plan's batch

  bool isEmpty() const { return hash.empty(); }
  /// This rank's samples over the mean of the ranks.
  double weight(int ranks) const {
    return static_cast<double>(share.count) * ranks / static_cast<double>(share.all);
  }
};

/// Reads batches.json in the plan's folder, where there is one, for rank `rank`, a worker. Errors:
/// badInput, naming the file, for a malformed one, for other ranks than the plan's, and for plans
/// whose steps cannot train the same parameters or whose messages have one batch's size.
Result<PlanBatches> loadBatches(const Plan &own, int rank);

} // namespace syncline::run
