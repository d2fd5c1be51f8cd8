// Prediction: the times of a plan before it runs, from steps in virtual time.
#pragma once

#include "passes/simulate/Simulation.h"

#include <optional>
#include <vector>

namespace syncline::simulate {

/// The times of one message in seconds from the beginning of the step that issues it, with several
/// micro-batches from that of the last one; they may lie beyond it. Where ranks differ the latest
/// counts, since the others wait for it.
struct PredictedMessage {
  double ready = 0; ///< when all ranks have its gradients or factors
  double start = 0; ///< when all ranks have begun it
  double end = 0;   ///< when it is over on all ranks
  /// When all ranks have its gradients: at `end`, or later where they are reconstructed.
  double reconstructed = 0;
  double exposed = 0; ///< how long computation waits for it, on the rank that waits least
};

struct Prediction {
  std::vector<PredictedMessage> messages; ///< of gradients; without the loss's
  double forwardEnd = 0, backwardEnd = 0;
  double communicationEnd = 0, reconstructionEnd = 0; ///< of all messages; 0 without any
  double updates = 0; ///< seconds of all updates, on the rank that ends last
  double step = 0; ///< seconds from the end of a step to the end of the next one, all micro-batches
  double waiting = 0; ///< seconds of `step` in which ranks wait for weights; 0 before predictPlan
  int ranks = 1;      ///< number of simulated ranks; 1 where one stands for all
  double alone = 0;   ///< seconds of one device's step without messages; 0 before predictPlan
  /// Seconds of the step if gradients were not clipped by their norm. Nothing where they are not,
  /// and before predictPlan.
  std::optional<double> unclipped = std::nullopt;
  /// Seconds of a micro-batch of a step of several batches that is not the last one. Nothing for a
  /// trace and where gradients do not travel, and before predictPlan.
  std::optional<double> microBatch = std::nullopt;
  /// Seconds that such a micro-batch takes at least, by any plan. Nothing where a step has one
  /// micro-batch, and before predictPlan.
  std::optional<double> leastMicroBatch = std::nullopt;
};

/// Simulates one step without jitter or, where steps wait for messages of the step before, as many
/// as it takes until two steps take equally long (at most 24, of which then 12 count). Where
/// operations scatter, simulates whole rounds of the recorded steps, 64 steps at least. Times are
/// the means of the steps that count; `step` is that of the rank whose steps are longest. Where all
/// this would take long (about two million tasks and operations: 0.5 s, 100 MB), fewer of the
/// recorded steps count, at least 16. Beyond that, operations take as long as on the slowest rank
/// in the mean, one rank as slow as the slowest stands for all, and messages take their cost, as
/// planners see it. Returns badInput as runScenario does.
Result<Prediction> predictStep(Scenario scenario);

} // namespace syncline::simulate
