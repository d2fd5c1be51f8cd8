// How far ranks drifted apart in a run whose weights travel by servers.
#pragma once

#include "runtime/core/Exchanges.h"
#include "runtime/transport/Group.h"

namespace syncline::run {

/// The results of a rank's training or, over all ranks, the mean loss and the sum of the speeds.
struct TrainingResult {
  double loss = 0; ///< of the last step
  double samplesPerSecond = 0;
};

/// What one rank tells of its training, or all ranks together.
struct Drift {
  core::DriftCounts counts;
  TrainingResult result;
  int ranks = 1; ///< that are counted
};

/// All ranks' drift. All workers call it together. Errors: peerLost.
Result<Drift> sumDrift(transport::Group &group, const Drift &own, double timeoutSeconds);

} // namespace syncline::run
