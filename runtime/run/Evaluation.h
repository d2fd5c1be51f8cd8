// Evaluating the trained parameters on a test set.
#pragma once

#include "runtime/data/Dataset.h"
#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"
#include "runtime/transport/Group.h"

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

/// Runs the forward phase over the set, all workers together, and sums their scores. Worker R of P
/// takes batch R and every P-th batch after it. The last batch is filled up with repeated samples,
/// which are not counted. States are restored afterwards. `group` is null in a run of one rank. The
/// plan has passed checkStep(). Errors: peerLost; badInput for a plan without an output; those of
/// the backend.
///
/// The forward phase is the training step's, without dropout, so that batch normalisation uses the
/// batch's statistics. A signal ends evaluation early, on all workers without a score.
Result<std::optional<Score>> evaluateTogether(const Plan &plan, core::Executable &executable,
                                              Trainer &trainer, const data::Dataset &data,
                                              transport::Group *group, double seconds);

/// How evaluation differs from inference: "with the batch's statistics", or empty.
std::string trainingMode(const core::StepRunner &runner);

} // namespace syncline::run
