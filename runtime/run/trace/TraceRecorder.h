// `--trace`: records the last steps of all ranks, by one clock, in one file.
#pragma once

#include "runtime/run/Trainer.h"
#include "runtime/run/plan/Plan.h"
#include "runtime/run/trace/ClockAlignment.h"
#include "runtime/servers/ServiceLog.h"

#include <algorithm>
#include <optional>
#include <string>

namespace syncline::run {

/// Records one rank's steps. All workers create one and call the same methods between the
/// same steps. Where servers hold the weights, these are recorded too.
class TraceRecorder {
public:
  struct Run {
    double timeoutSeconds; ///< see RankZeroLinks
    std::int64_t steps, traced;
    /// Whether ranks may be at different steps. Clocks are then compared before the first step of
    /// all, so that nobody waits at the first traced one.
    bool isLoose = false;
    int servers = 0; ///< dedicated ones that hold the weights; they call ServerTrace
    /// What the server in this process does; null where none is in a worker's process.
    servers::ServiceLog *services = nullptr;
  };

  /// Creates a recorder for the last `traced` of `steps` steps. `group` is null in a run of one
  /// rank. Errors: peerLost.
  static Result<TraceRecorder> create(transport::Group *group, const Run &run);

  /// Called before step `number`. Before the first traced step it compares the clocks.
  Status beforeStep(std::int64_t number, Trainer &trainer);
  /// Called after the last step. Collects all records at rank 0, which writes `path` and returns
  /// whether there was anything to write. Errors: peerLost; badInput, naming the path.
  Result<bool> finish(const std::string &path, const Plan &plan, const core::StepRunner &runner,
                      const Trainer &trainer);

private:
  TraceRecorder(const Run &run, bool isFirstRank)
      : run(run), first(std::max<std::int64_t>(0, run.steps - run.traced)),
        isFirstRank(isFirstRank) {}
  Result<std::vector<ClockOffset>> offsets();
  Status compareClocks();
  Result<std::vector<std::vector<double>>> collect(const std::vector<double> &own);

  Run run;
  std::int64_t first; ///< number of the first traced step
  bool hasCompared = false;
  bool isFirstRank;
  std::optional<RankZeroLinks> links; ///< none in a run of one rank
  std::vector<ClockOffset> before;
};

} // namespace syncline::run
