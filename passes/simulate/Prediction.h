// Prediction: what is known of a plan before it runs, from one step in virtual time.
#pragma once

#include "passes/simulate/Simulation.h"

#include <vector>

namespace syncline::simulate {

/// Seconds from the step's beginning. Of ranks that differ the latest counts, since the others wait
/// for it.
struct PredictedMessage {
  double ready = 0; ///< all ranks have it at hand
  double start = 0; ///< all ranks have begun it
  double end = 0;   ///< it is over on all ranks
  double reconstructed =
      0;              ///< all ranks have its gradients: later than `end` where they are computed
  double exposed = 0; ///< how long computation waits for it, on the rank that waits least in all
};

struct Prediction {
  std::vector<PredictedMessage> messages;
  double forwardEnd = 0, backwardEnd = 0;
  double communicationEnd = 0, reconstructionEnd = 0; ///< of all messages; 0 where there is none
  double updates = 0; ///< seconds in all, on the rank that is done last
  double step = 0;    ///< when the last rank is done
  int ranks = 1;      ///< that were followed: one where it stands for all
  double alone = 0;   ///< what one device's step takes that sends nothing; 0 before predictPlan
};

/// Simulates one step without jitter. Where that would take long (about two million parts and
/// operations: 0.5 s, 100 MB), one rank as slow as the slowest stands for all, and messages take
/// their cost, as planners see it. badInput as runScenario.
Result<Prediction> predictStep(Scenario scenario);

} // namespace syncline::simulate
