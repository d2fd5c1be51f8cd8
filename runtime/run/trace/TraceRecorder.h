// `--trace`: the last steps of all ranks, on one clock, in one file.
#pragma once

#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"
#include "runtime/run/trace/ClockAlignment.h"

#include <optional>
#include <string>

namespace syncline {

/// One rank's part; all workers make one and call the same methods between the same steps.
class TraceRecorder {
public:
  /// Records the last `traced` of `steps` steps. `group` is null where there is one rank; for
  /// `timeoutSeconds` see RankZeroLinks. Errors: peerLost.
  static Result<TraceRecorder> create(Group *group, double timeoutSeconds, std::int64_t steps,
                                      std::int64_t traced);

  /// Before step `number`; the first traced one begins once the clocks have been compared.
  Status beforeStep(std::int64_t number, Trainer &trainer);
  /// Whether the first traced step has come.
  bool hasBegun() const { return !before.empty(); }
  /// After the last step: brings all records to rank 0, which writes `path`. Errors: peerLost;
  /// badInput, naming the path.
  Status finish(const std::string &path, const Plan &plan, const StepRunner &runner,
                const Trainer &trainer);

private:
  TraceRecorder(std::int64_t first, bool isFirstRank) : first(first), isFirstRank(isFirstRank) {}
  Result<std::vector<ClockOffset>> offsets();

  std::int64_t first; ///< step
  bool isFirstRank;
  std::optional<RankZeroLinks> links; ///< none on one rank
  std::vector<ClockOffset> before;
};

} // namespace syncline
