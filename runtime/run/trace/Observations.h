// What a run measures for `--trace` and `--op-times`.
#pragma once

#include "runtime/run/Report.h"
#include "runtime/run/Trainer.h"
#include "runtime/run/options/Options.h"
#include "runtime/run/trace/OperationTimes.h"
#include "runtime/run/trace/TraceRecorder.h"

#include <optional>
#include <vector>

namespace syncline::run {

/// `options` outlives it. Call begin(), then beforeStep() and addStep() around each step, and
/// write() behind the last one. All ranks do so together.
class Observations {
public:
  explicit Observations(const Options &options) : options(options) {}

  bool isMeasured() const { return !options.opTimes.empty(); }
  /// Errors: badUsage for a trace of a run without steps, but for one that `isResumed` at its end:
  /// write() notes that it has no trace; peerLost.
  Status begin(Trainer &trainer, transport::Group *group, const TraceRecorder::Run &run,
               bool isResumed);
  Status beforeStep(std::int64_t number, Trainer &trainer);
  void addStep(double seconds);
  /// Whether times of operations are steady, which ends the run.
  bool isDone() const { return isMeasured() && steadiness.isDone(); }
  /// Writes the files. Where a signal ended the run too early for them, `report` says so.
  Status write(const Plan &plan, const core::Executable &executable, Trainer &trainer,
               Report &report, bool isStopped);

private:
  const Options &options;
  std::optional<TraceRecorder> trace;
  Steadiness steadiness{options.opTimesFor.value_or(Steadiness::shortest)};
  std::vector<double> measured; ///< seconds of each measured step
};

} // namespace syncline::run
