// Connecting a worker to the other ranks once its step is prepared, and the checks before that.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/launch/Identity.h"
#include "runtime/run/Trainer.h"
#include "runtime/run/options/Options.h"
#include "runtime/run/plan/Plan.h"
#include "runtime/run/weights/ServedWeights.h"
#include "runtime/transport/Group.h"

#include <memory>

namespace syncline::run {

/// The links of a run on several ranks. The parts of `Run` outlive this object, and this object
/// outlives the trainer.
class RankLinks {
public:
  struct Run {
    const Options &options;
    const launch::Identity &identity;
    const Plan &plan;
    const core::Backend &backend;
    transport::Group &group;
    double timeoutSeconds;
  };

  explicit RankLinks(const Run &run) : run(run) {}

  /// Checks that all workers have the same memory layouts and suitable nodes, and tells the servers
  /// how many steps are complete at the beginning
  /// and at the end. All workers call it together. Errors: peerLost where ranks differ;
  /// badInput where the ranks' nodes do not suit a hierarchical bucket.
  Status agree(const core::Executable &executable, std::int64_t first, std::int64_t steps);
  /// Opens the trainer, whose links are the backend's own channels or go over the run's transport.
  /// Parameters have their initial values. All workers call it together, after agree(). Errors:
  /// badInput where the backend cannot carry the plan; peerLost.
  Result<std::unique_ptr<Trainer>> openTrainer(core::Executable &executable);

  /// What the server in this process does, for a trace; null where there is none.
  servers::ServiceLog *services() { return served ? served->services() : nullptr; }

private:
  Status agreeOnNodes();
  Result<TrainerLinks> open(core::Executable &executable);
  Result<std::unique_ptr<Trainer>> openServed(core::Executable &executable);

  Run run;
  std::unique_ptr<core::Peers> peers;    ///< for the backend's own channels; null without them
  std::unique_ptr<ServedWeights> served; ///< null where the weights have no servers
};

} // namespace syncline::run
