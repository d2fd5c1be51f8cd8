// `--trace`: records the last steps of all ranks, by one clock, in one file.
#pragma once

#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"
#include "runtime/run/trace/ClockAlignment.h"

#include <optional>
#include <string>

namespace syncline::run {

/// Records one rank's steps. All workers create one and call the same methods between the
/// same steps.
class TraceRecorder {
public:
  /// Creates a recorder for the last `traced` of `steps` steps. `group` is null in a run of one
  /// rank; for `timeoutSeconds` see RankZeroLinks. Errors: peerLost.
  static Result<TraceRecorder> create(transport::Group *group, double timeoutSeconds,
                                      std::int64_t steps, std::int64_t traced);

  /// Called before step `number`. Before the first traced step it compares the clocks.
  Status beforeStep(std::int64_t number, Trainer &trainer);
  /// Whether the first traced step has begun.
  bool hasBegun() const { return !before.empty(); }
  /// Called after the last step. Collects all records at rank 0, which writes `path`. Errors:
  /// peerLost; badInput, naming the path.
  Status finish(const std::string &path, const Plan &plan, const core::StepRunner &runner,
                const Trainer &trainer);

private:
  TraceRecorder(std::int64_t first, bool isFirstRank) : first(first), isFirstRank(isFirstRank) {}
  Result<std::vector<ClockOffset>> offsets();

  std::int64_t first; ///< number of the first traced step
  bool isFirstRank;
  std::optional<RankZeroLinks> links; ///< none in a run of one rank
  std::vector<ClockOffset> before;
};

} // namespace syncline::run
