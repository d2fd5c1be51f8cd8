// The run of one process: a worker's, from the plan folder to the trained model, or a server's.
#pragma once

#include "runtime/run/Batch.h"
#include "runtime/run/Diagnosis.h"
#include "runtime/run/Evaluation.h"
#include "runtime/run/LabelWeights.h"
#include "runtime/run/LostRankWatch.h"
#include "runtime/run/Participant.h"
#include "runtime/run/RankLinks.h"
#include "runtime/run/Report.h"
#include "runtime/run/RunData.h"
#include "runtime/run/Trainer.h"
#include "runtime/run/checkpoint/Checkpoints.h"
#include "runtime/run/lengths/PlanBatches.h"
#include "runtime/run/lengths/PlanLengths.h"
#include "runtime/run/lengths/SwitchedExecutable.h"
#include "runtime/run/plan/StepLibrary.h"
#include "runtime/run/trace/Observations.h"

#include <atomic>
#include <deque>

namespace syncline::run {

/// The run of one worker. Its members live as long as the run.
class RankRun : public Participant {
public:
  RankRun(const Options &options, const launch::Identity &who) : Participant(options, who) {}
  Status run() override;
  int stoppedBy() const override;
  void release() override;

private:
  Status watchRanks();
  void releaseFolder();
  bool isFirst() const { return identity.rank == 0; }
  Status load();
  Status openData();
  Status agreeOnOptions();
  Status expectPrecision();
  Status build();
  Status chooseKernels();
  Status connect();
  Status weighLabels();
  Status weighBatch();
  Status buildSmaller(core::ExecutableOptions how);
  void expectMeanStep();
  Status chooseLength(std::size_t length);
  /// Puts what steps of other lengths have changed into the plan's own step.
  Status chooseLongest() { return chooseLength(lengths.smaller.size()); }
  /// The step of the length that was chosen last.
  core::Executable &present() {
    const std::size_t length = switched ? switched->chosen() : 0;
    return length < smallerSteps.size() ? smallerSteps[length].executable() : step->executable();
  }
  /// What trains: the plan's step, or those of all lengths.
  core::Executable &trained() { return switched ? *switched : step->executable(); }
  bool isServed() const { return group && plan.consistency.isServed(); }
  Status observe();
  Status train();
  Status writeSamples(std::int64_t microBatch);
  Status completeAllBut(std::size_t steps);
  bool isTested(std::int64_t step) const;
  Status testAfter(std::int64_t step);
  Status finishStep(std::int64_t step, bool dumps, bool saves);
  Status stop(std::int64_t completed);
  Status compareWeights(std::int64_t completed);
  Status search(const NotFinite &what);
  Status notFinite(const EarlierLoss &loss);
  Status dump(std::int64_t step);
  Status writeObservations();
  Status finish();

  RunData data;
  std::int64_t first = 0, steps = 0; ///< complete steps at the beginning and at the end
  Schedule schedule;
  std::int64_t compared = -1; ///< complete steps when ranks compared their weights last
  int stopSignal = 0;         ///< the signal by which all ranks end early; 0 for none
  const core::Backend *backend = nullptr;
  std::optional<RankLinks> links; ///< none in a run of one rank
  /// They are empty where the plan has one length. Where this rank has a smaller batch than the
  /// plan's own, its batch's plan is the one smaller plan, which trains in every step.
  PlanLengths lengths;
  PlanBatches batches; ///< of the plan, whose folder's own is that of the largest
  /// This rank's samples of a step, with those of all micro-batches.
  data::BatchShare samplesOfStep() const {
    const std::int64_t each = options.microBatches;
    return {batches.share.first * each, batches.share.count * each, batches.share.all * each};
  }
  std::optional<StepLibrary> step;
  std::vector<StepLibrary> smallerSteps;      ///< of `lengths`
  std::optional<SwitchedExecutable> switched; ///< none where the plan has one length
  std::unique_ptr<Trainer> trainer;
  std::optional<Evaluation> evaluation; ///< none without a test set
  std::optional<Report> report;
  std::unique_ptr<Checkpoints> checkpoints; ///< null without --checkpoint
  Observations observations{options};
  Batch batch;
  std::optional<LabelWeights>
      labelWeights;             ///< none where all micro-batches have equally many labels
  std::optional<double> waited; ///< seconds for the present step's samples; none for synthetic ones
  /// A step that the trainer was told, and has not completed.
  struct Told {
    double rate;
    std::optional<double> waited; ///< as `waited`
  };
  std::deque<Told> told;
  NotFinite finding;
  std::atomic<const char *> phase = nullptr; ///< for messages; null while steps run
  std::optional<LostRankWatch> lostWatch;    ///< none while this rank saves
};

/// Loads the plan, joins the other ranks, trains, evaluates and saves; a server serves sums
/// instead. Prints one message on failure. Returns the exit code, or ends the process with it where
/// threads still wait for lost ranks.
int runRank(const Options &options, const launch::Identity &identity);

} // namespace syncline::run
