// What a run tells: progress on the terminal, or JSON lines for machines.
#pragma once

#include "runtime/core/StepRunner.h"
#include "runtime/run/Evaluation.h"
#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline {

/// How long a run is to be, in steps.
struct RunLength {
  std::int64_t steps = 0;
  std::int64_t perEpoch = 0; ///< 0: there are no epochs
};

/// Collects the steps of rank 0. Losses arrive a step late: see Trainer.
///
/// Text counts: "267 of 12400 steps, epoch 1 of 20" is told behind step 266 of epoch 0. JSON, like
/// options, file names and messages, numbers steps and epochs from 0.
///
/// JSON, one object a line on stdout: for each step {"step", "epoch"?, "loss", "mean_loss",
/// "seconds", "samples_per_second", "exposed_seconds", "remaining_seconds", "bytes_sent",
/// "bytes_received"}, over all ranks, times in seconds, bytes of messages that rank 0 moves,
/// without them where nobody counts; "mean_loss" is that of the steps of this epoch so far, or of
/// all steps without epochs; "remaining_seconds" are those of the steps left at the mean of the
/// steps so far, the first left out; at the end
/// {"summary": true, "steps", "ranks", "servers", "median_step_seconds", "samples_per_second",
/// "median_exposed_seconds", "predicted_step_seconds", "median_bytes_sent",
/// "median_bytes_received", "predicted_traffic_bytes" (both directions), "peak_memory_bytes" (these
/// but the prediction are the largest of any rank), "loss"?, "test_loss"?, "test_accuracy"?,
/// "test_mode"?, "stopped_by_signal"?}; "test_mode" says in what the test differs from inference.
class Report {
public:
  /// `shape` is who runs, which is fewer than the plan's where a rank runs alone. A quiet report
  /// collects without telling: all ranks but 0.
  Report(const Plan &plan, const RunShape &shape, bool json, bool quiet, const RunLength &length);

  void note(const std::string &text);
  /// The run ends early, by a signal, once `completed` steps are done.
  void stop(int signal, std::int64_t completed);
  void addStep(const StepTimes &times);
  void addLoss(const Trainer::EarlierLoss &loss);
  /// Medians of this rank's steps; none where nobody counts.
  std::optional<Traffic> medianTraffic() const;
  /// Takes the largest values of any rank; `testMode` as trainingMode() has it.
  void finish(std::int64_t peakBytes, const std::optional<Traffic> &traffic,
              const std::optional<Score> &score, const std::string &testMode);

private:
  double samplesPerSecond(double seconds) const;
  double remainingSeconds() const;
  void addToMean(const Trainer::EarlierLoss &loss);
  void tellJson(const Trainer::EarlierLoss &loss) const;
  void tellText(const Trainer::EarlierLoss &loss);

  const Plan &plan;
  const RunShape shape;
  const bool json, quiet, terminal;
  const RunLength length;
  std::vector<StepTimes> steps;
  double secondsSoFar = 0; ///< of the steps but the first
  std::optional<double> lastLoss;
  double lossSum = 0; ///< of the epoch's steps
  std::int64_t losses = 0;
  Clock::time_point lastShown{};
  bool isLineOpen = false; ///< the cursor stands behind a live line
  int stopSignal = 0;
};

/// Largest memory this process has held.
std::int64_t peakMemoryBytes();

/// Median milliseconds of every operation, slowest first, and of every bucket.
void printTimings(const Plan &plan, const StepRunner &runner, const Trainer &trainer);

} // namespace syncline
