// How a worker reaches the others once its step is prepared, and what they agree on before.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/launch/Identity.h"
#include "runtime/run/Options.h"
#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"
#include "runtime/transport/Group.h"

#include <memory>

namespace syncline {

/// A run on several ranks. What it is made of outlives it, and it outlives the channels.
class RankLinks {
public:
  struct Run {
    const Options &options;
    const Identity &identity;
    const Plan &plan;
    const Backend &backend;
    Group &group;
    double timeoutSeconds;
  };

  explicit RankLinks(const Run &run) : run(run) {}

  /// All workers together, and servers, which learn the number of steps. Errors: peerLost, where
  /// the ranks differ; badInput for ranks that lie otherwise than a hierarchy needs them.
  Status agree(const Executable &executable, std::int64_t steps);
  /// The backend's own channels, or the run's transport. All workers together, after agree().
  /// Errors: badInput where the backend has no way to carry the plan; peerLost.
  Result<TrainerLinks> open(Executable &executable);

private:
  Status agreeOnNodes();

  Run run;
  std::unique_ptr<Peers> peers; ///< of channels that the backend has
};

} // namespace syncline
