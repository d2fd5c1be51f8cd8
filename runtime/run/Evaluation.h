// Evaluating the present parameters on a test set.
#pragma once

#include "runtime/data/Dataset.h"
#include "runtime/run/Trainer.h"
#include "runtime/run/plan/Plan.h"
#include "runtime/transport/Group.h"

#include <optional>

namespace syncline::run {

/// Sums over samples, of one rank or of all.
struct Score {
  double lossSum = 0;
  double losses = 0;        ///< number of terms in lossSum, or the weights of their labels
  std::int64_t correct = 0; ///< correct class predictions
  std::int64_t predictions = 0;

  void add(const Score &other);
};

/// Scores one batch's output (double, row-major) against its targets for the first `samples`
/// samples: the plan's loss and, where targets are classes, the accuracy.
Score scoreBatch(const Plan &plan, const data::Array &output, const data::Array &target,
                 std::int64_t samples);

/// Scores a test set as often as asked. Its arguments outlive it.
///
/// Evaluation computes as in inference (StepRunner::setEvaluation). Each rank tracks running
/// statistics of its own samples. Rank 0's are used by all ranks, as PyTorch DDP does, which sends
/// rank 0's to all before each forward pass; they are also those that are saved. The other ranks'
/// own are in place again afterwards, as is the input, so that training goes on as if there had
/// been no evaluation.
class Evaluation {
public:
  /// `group` is null in a run of one rank. The plan has passed checkStep(). No rank waits longer
  /// than `seconds` for another one.
  Evaluation(const Plan &plan, core::Executable &executable, const data::Dataset &data,
             transport::Group *group, double seconds)
      : plan(plan), executable(executable), data(data), group(group), seconds(seconds) {}

  /// Runs the forward phase over the whole set, all workers together, and sums their scores. Worker
  /// R of P takes batch R and every P-th batch after it. The last batch is filled up with repeated
  /// samples, which are not counted; where the model computes its loss, it is left out. Samples of
  /// several lengths are padded to the greatest. A signal ends evaluation early, on all workers
  /// without a score. Not while a message is under way that changes parameters. Errors: peerLost;
  /// badInput without an output; the backend's.
  Result<std::optional<Score>> score(Trainer &trainer);

  /// How many samples of the set are scored: all, or whole batches where the model computes the
  /// loss of a batch.
  static std::int64_t sizeOf(const Plan &plan, const data::Dataset &data);

private:
  Result<Score> scoreOf(const data::HostBatch &batch, std::int64_t count);
  Result<Score> ownScore(Trainer &trainer);
  Status shareStates();
  Result<std::optional<Score>> sum(const Score &own, bool isCut);

  const Plan &plan;
  core::Executable &executable;
  const data::Dataset &data;
  transport::Group *const group;
  const double seconds;
  std::vector<std::byte> logits;
  std::int64_t number = -1; ///< of this evaluation; tells its messages from others'
};

} // namespace syncline::run
