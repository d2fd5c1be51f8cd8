// A step of several batches (`run --accumulate`): its passes, one by one and all together.
#pragma once

#include "passes/simulate/Scenario.h"

namespace syncline::simulate {

/// The pass, as a step of its own. It computes what the scenario's step computes, and what it takes
/// beside its operations. Of its messages only factors travel. In place of handing over any other
/// message, and of updating by factors, a rank adds the gradients to those of the passes before,
/// which takes `share` of the message's update; that of a reduce-scatter is what all ranks' shares
/// take together. Nothing is updated, clipped or said of the loss. Precondition: messages have
/// their `shardUpdate`.
Scenario accumulatingPass(const Scenario &scenario, double share);

/// The step of `passes` passes whose last one is the scenario's step, as ranks issue it. Passes
/// before the last one do what accumulatingPass() does. Where the step waits for messages of the
/// step before, the first pass waits for its sums, and each pass for the factors of the pass before
/// it. Factors of earlier passes are messages behind all others but the loss (Message::inLastPass).
/// The loss of the step before has all passes to arrive. Precondition: as accumulatingPass's;
/// passes is 1 or more.
Scenario wholeStep(const Scenario &scenario, std::int64_t passes, double share);

} // namespace syncline::simulate
