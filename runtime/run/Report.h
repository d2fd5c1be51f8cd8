// The output of a run: progress as text on the terminal, or JSON lines for programs.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/run/Evaluation.h"
#include "runtime/run/Trainer.h"
#include "runtime/run/checkpoint/CheckpointCosts.h"
#include "runtime/run/plan/Plan.h"
#include "runtime/run/weights/Drift.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace syncline::run {

/// The length of a run in steps, that of a step, and whether the run's text shows their rates.
struct RunLength {
  std::int64_t steps = 0;
  std::int64_t perEpoch = 0; ///< 0 for a run without epochs
  int microBatches = 1;      ///< batches of a rank in a step
  bool hasRates = false;
  std::int64_t samples = 0; ///< of all ranks in a step; 0 where each has the plan's batch
};

/// Collects the steps of rank 0 and prints them. A step's loss arrives one step later, with local
/// updates at the end of a window at the latest; see Trainer.
///
/// Text counts from 1: "267 of 12400 steps, epoch 1 of 20" follows step 266 of epoch 0. JSON,
/// options, file names and messages number steps and epochs from 0.
///
/// JSON, one object a line on stdout: for each step {"step", "epoch"?, "loss", "mean_loss", "rate",
/// "seconds", "samples_per_second", "exposed_seconds", "data_seconds"?, "remaining_seconds",
/// "bytes_sent", "bytes_received", "gradient_norm"?, "loss_scale"?, "skipped"?}, for all ranks
/// together. Times are in seconds. "data_seconds" is how long rank 0 waited for its samples;
/// synthetic ones have no such key. "gradient_norm", with `--clip-norm`, is the norm of the mean
/// gradients before they are clipped; with a consistency it is that of rank 0's own. With
/// `--loss-scale`, "loss_scale" is the step's and "skipped" whether it updated nothing. With local
/// updates "loss" is the mean over a window's steps. Bytes are those of rank 0's messages; both
/// keys are missing where the backend does not count bytes. Where messages reach over a step's end,
/// only drained steps have them, as means since the drain before; with local updates, only steps
/// that end a period. "mean_loss" is the mean over this epoch's steps so far, or over all steps in
/// a run without epochs. "remaining_seconds" assumes the mean of the steps so far without the
/// first. At the end {"summary": true, "steps", "ranks", "servers", "median_step_seconds",
/// "mean_step_seconds"? (where that is predicted), "samples_per_second", "median_exposed_seconds",
/// "median_data_seconds"?, "predicted_step_seconds"?, "median_bytes_sent", "median_bytes_received",
/// "predicted_traffic_bytes" (both directions), "peak_memory_bytes" (traffic and memory are the
/// largest of any rank), "loss"?, "clipped_steps"?, "skipped_steps"?, "test_loss"?,
/// "test_accuracy"?, "stopped_by_signal"?, "resumed_at"?, "checkpoints"?,
/// "checkpoints_not_written"?, "checkpoint_held_seconds"?, "checkpoint_waiting_seconds"?,
/// "checkpoint_writing_seconds"?}. With
/// `--accumulate` no step is predicted where weights travel. "resumed_at" is the first step's
/// number; the seconds are rank 0's means over its checkpoints, that training was held, of which
/// waiting, and of writing beside it. Each test during training has a line {"test": true, "step",
/// "test_loss", "test_accuracy"?} behind that of the step before. With kernels chosen by time, the
/// summary has "kernels": [{"operation", "layer", "kernel", "seconds"}].
///
/// Where weights travel by servers, losses of steps are rank 0's. The summary's "loss" is then the
/// mean over the ranks, "samples_per_second" the sum, and it has {"largest_lead",
/// "largest_staleness", "mean_staleness", "waiting_seconds" (mean over the ranks), "lost_ranks"?}.
class Report {
public:
  /// `shape` has the numbers of processes that run, which is less than the plan's where a rank runs
  /// alone. A quiet report collects without printing; all ranks but 0 use it.
  Report(const Plan &plan, const launch::RunShape &shape, bool json, bool quiet,
         const RunLength &length);

  /// States the limit of the gradients' norm, by which finish() counts clipped steps.
  void expectClipping(double norm) { clipNorm = norm; }
  /// States that the loss is scaled, so that steps may be skipped.
  void expectLossScale() { hasLossScale = true; }
  /// Where a resumed run goes on.
  struct Resumed {
    std::int64_t step = 0;
    double lossSum = 0; ///< over the epoch's steps before
    std::int64_t losses = 0;
  };
  /// Goes on from a checkpoint. Called before the first step.
  void resume(const Resumed &from);
  /// For the next run to go on from.
  Resumed soFar() const { return {first + std::ssize(steps), lossSum, losses}; }

  void note(const std::string &text);
  /// Takes the kernels that were chosen by time, for the summary.
  void addKernels(std::vector<core::KernelChoice::Kernel> chosen) { kernels = std::move(chosen); }
  /// States that the run ends early by `signal` after `completed` steps.
  void stop(int signal, std::int64_t completed);
  void addStep(const StepTimes &times);
  /// Bytes a step of what no step's figure contains, at the end of the run. They count where no
  /// step has a figure: in local updates that are shorter than a period.
  void addRest(const std::optional<transport::Traffic> &moved) { rest = moved; }
  void addLoss(const EarlierLoss &loss);
  void addCheckpoints(const CheckpointCosts &costs) { checkpoints = costs; }
  /// Median bytes of this rank's steps, or the rest; none where the backend does not count them.
  std::optional<transport::Traffic> medianTraffic() const;
  /// The training of this rank alone.
  TrainingResult own() const;
  /// How far all ranks drifted apart, and the lost ranks, as with tellLost().
  void addDrift(const Drift &all, const std::vector<transport::Verdict> &ranks);
  /// Says once of each of these ranks that training goes on without it.
  void tellLost(const std::vector<transport::Verdict> &ranks);
  /// Prints the score of a test after step `step`, before the run's end.
  void addTest(std::int64_t step, const Score &score);
  /// Prints the summary. `peakBytes` and `traffic` are the largest values of any rank.
  void finish(std::int64_t peakBytes, const std::optional<transport::Traffic> &traffic,
              const std::optional<Score> &score);

private:
  /// What the summary says of all steps together.
  struct Totals {
    std::string kind;           ///< "mean" or "median", which the next three are
    double seconds, exposed;    ///< of a step
    std::optional<double> mean; ///< seconds of a step, where the plan predicts it beside a median
    std::optional<double> data; ///< seconds of waiting for samples in a step
    std::int64_t peakBytes;
    std::optional<transport::Traffic> traffic;
  };

  void tellJson(const Totals &total, const std::optional<Score> &score) const;
  void tellText(const Totals &total, const std::optional<Score> &score) const;
  double samplesPerSecond(double seconds) const;
  double samplesOfRank() const { return static_cast<double>(plan.batch * length.microBatches); }
  /// The number of steps whose gradients were scaled; none without `--clip-norm`.
  std::optional<std::int64_t> clippedSteps() const;
  std::int64_t skippedSteps() const;
  void tellDrift() const;
  double remainingSeconds() const;
  void addToMean(std::int64_t step, double loss);
  void tellJson(std::int64_t step, double loss) const;
  void tellText(std::int64_t step, double loss);

  const Plan &plan;
  const launch::RunShape shape;
  const bool json, quiet, terminal;
  const RunLength length;
  std::int64_t first = 0; ///< number of the first step
  std::vector<StepTimes> steps;
  std::vector<core::KernelChoice::Kernel> kernels;
  CheckpointCosts checkpoints;
  std::optional<transport::Traffic> rest;
  double clipNorm = std::numeric_limits<double>::infinity();
  bool hasLossScale = false;
  double secondsSoFar = 0; ///< of all steps but the first
  std::optional<double> lastLoss;
  std::optional<Drift> drift; ///< of runs whose weights travel by servers
  std::vector<int> lost;      ///< ranks without which the run went on
  double lossSum = 0;         ///< over the epoch's steps
  std::int64_t losses = 0;
  core::Clock::time_point lastShown{};
  bool isLineOpen = false; ///< the cursor stands at the end of a progress line
  int stopSignal = 0;
};

} // namespace syncline::run
