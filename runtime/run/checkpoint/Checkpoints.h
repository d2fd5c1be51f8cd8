// The checkpoints of one run: where it begins, when it saves, and what that costs.
#pragma once

#include "runtime/run/Report.h"
#include "runtime/run/Trainer.h"
#include "runtime/run/checkpoint/CheckpointChoice.h"
#include "runtime/run/checkpoint/CheckpointState.h"
#include "runtime/run/checkpoint/CheckpointWriter.h"
#include "runtime/run/options/Options.h"

#include <memory>
#include <optional>

namespace syncline::run {

/// All workers make the same calls after the same steps. Errors of all calls: peerLost; badInput,
/// the same on all ranks.
class Checkpoints {
public:
  struct Run {
    const Options &options;
    const Schedule &schedule;
    const Plan &plan;
    core::Executable &executable;
    transport::Group *group; ///< null in a run of one rank
    int rank = 0;
    std::int64_t samples = 0;  ///< in the training set; 0 for synthetic samples
    std::int64_t perEpoch = 0; ///< steps; 0 without epochs
    double timeoutSeconds = 0;
    Report &report;
  };

  /// Checks the folder and chooses the checkpoint to resume from. `executable` has been built. What
  /// `run` refers to outlives the result, which is null in a run without checkpoints.
  static Result<std::unique_ptr<Checkpoints>> open(const Run &run);

  /// The number of steps that are complete before the run's first one.
  std::int64_t firstStep() const { return resumed ? resumed->step : 0; }
  /// Takes the state of the checkpoint, if the run resumes, and prepares to save. Called once when
  /// the trainer has opened its channels.
  Status begin(Trainer &trainer, std::int64_t steps);

  /// Whether the state is to be saved after `completed` steps, which then end drained.
  bool isDue(std::int64_t completed) const;
  /// Saves the state after `completed` steps, whose losses are in the report, unless it has been
  /// saved already. Returns when the state has been copied; a thread writes it. Precondition: the
  /// trainer is drained.
  Status save(std::int64_t completed);
  /// Waits until all ranks have written the last checkpoint, and reports what checkpoints cost.
  Status finish();
  /// Lets go of the folder, for a process that ends without destroying this.
  void release() {
    if (lock)
      lock->release();
  }
  /// On rank 0, the error of the last checkpoint where it could not be written. Precondition:
  /// finish().
  const Status &last() const { return failure; }

private:
  explicit Checkpoints(const Run &run) : run(run), folder(run.options.checkpoint.folder) {}
  void tellChoice() const;
  CheckpointChoice::Opinion judge(const CheckpointManifest &manifest) const;
  std::string whyOther(const CheckpointManifest &manifest) const;
  bool isAnotherModel(const CheckpointManifest &manifest) const;
  bool isOther() const { return resumed->planHash != run.plan.hash; }
  CheckpointManifest manifest(std::int64_t completed) const;
  LossScale::State skippedSoFar() const;
  std::string recordedOptions() const;
  Status awaitLast();

  const Run run;
  const CheckpointFolder folder;
  std::optional<CheckpointLock> lock;        ///< on rank 0
  std::optional<CheckpointManifest> resumed; ///< none for a run that begins at the start
  std::int64_t steps = 0;
  std::int64_t savedAt = -1; ///< number of steps after which the state was saved last
  Trainer *trainer = nullptr;
  std::optional<CheckpointState> state;
  CheckpointImage image; ///< the writer reads it while a checkpoint is under way
  std::optional<CheckpointWriter> writer;
  CheckpointCosts costs;
  Status failure; ///< of the last checkpoint
};

} // namespace syncline::run
