// How good the trained parameters are on samples they were not trained on.
#pragma once

#include "runtime/data/Dataset.h"
#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"
#include "runtime/transport/Group.h"

#include <functional>
#include <optional>
#include <string>

namespace syncline {

/// Sums over this rank's share of the samples.
struct Score {
  double lossSum = 0;
  std::int64_t losses = 0;  ///< terms in lossSum
  std::int64_t correct = 0; ///< of the class predictions
  std::int64_t predictions = 0;

  void add(const Score &other);
};

/// Scores one batch's output (double, row-major) against its targets for the first `samples`
/// samples: cross-entropy and accuracy along dimension 1, or mean squared error.
Score scoreBatch(const SampleFormat &format, const Shape &outputShape, const Array &output,
                 const Array &target, std::int64_t samples);

/// Runs the forward phase over every (ranks)-th batch of the set, from batch `rank` on. The last
/// batch is filled up with repeated samples that do not count. States are put back afterwards. The
/// plan has passed checkStep(). Errors: badInput for a plan without an output, or the backend's.
///
/// What runs is the training step's forward phase, without dropout: batch normalisation uses the
/// batch's statistics. Ends early, with the score so far, once `isAsked()`.
Result<Score> evaluate(const Plan &plan, Executable &executable, Trainer &trainer,
                       const Dataset &data, int rank, const std::function<bool()> &isAsked);

/// The sum over the workers, who all call it; nothing where one was cut short. Errors: peerLost.
Result<std::optional<Score>> sumScores(Group &group, const Score &own, bool isCut, double seconds);

/// In what evaluation differs from inference: "with the batch's statistics", or nothing.
std::string trainingMode(const StepRunner &runner);

} // namespace syncline
