// Evaluating the trained parameters on a test set.
#pragma once

#include "runtime/data/Dataset.h"
#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"
#include "runtime/transport/Group.h"

#include <functional>
#include <optional>
#include <string>

namespace syncline::run {

/// Sums over samples, of one rank or of all.
struct Score {
  double lossSum = 0;
  std::int64_t losses = 0;  ///< number of terms in lossSum
  std::int64_t correct = 0; ///< correct class predictions
  std::int64_t predictions = 0;

  void add(const Score &other);
};

/// Scores one batch's output (double, row-major) against its targets for the first `samples`
/// samples: cross-entropy and accuracy along dimension 1, or mean squared error.
Score scoreBatch(const data::SampleFormat &format, const Shape &outputShape,
                 const data::Array &output, const data::Array &target, std::int64_t samples);

/// Runs the forward phase over this rank's batches of the set: batch `rank` and every P-th batch
/// after it, with P ranks. The last batch is filled up with repeated samples, which are not
/// counted. States are restored afterwards. The plan has passed checkStep(). Errors: badInput for a
/// plan without an output, or the backend's.
///
/// The forward phase is the training step's, without dropout, so that batch normalisation uses the
/// batch's statistics. Evaluation ends early, with the score so far, once `isAsked()` returns true.
Result<Score> evaluate(const Plan &plan, core::Executable &executable, Trainer &trainer,
                       const data::Dataset &data, int rank, const std::function<bool()> &isAsked);

/// The sum over all workers' scores; all workers call it. Nothing where a worker was interrupted
/// (`isCut`). Errors: peerLost.
Result<std::optional<Score>> sumScores(transport::Group &group, const Score &own, bool isCut,
                                       double seconds);

/// How evaluation differs from inference: "with the batch's statistics", or empty.
std::string trainingMode(const core::StepRunner &runner);

} // namespace syncline::run
