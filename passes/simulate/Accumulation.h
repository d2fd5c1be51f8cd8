// A step of several batches (`run --accumulate`): its micro-batches, one by one and all together.
#pragma once

#include "passes/simulate/Scenario.h"

namespace syncline::simulate {

/// The micro-batch, as a step of its own. It computes what the scenario's step computes, and what
/// it takes beside its operations. Of its messages only factors travel. In place of handing over
/// any other message, and of updating by factors, a rank adds the gradients to those of the
/// micro-batches before, which takes `share` of the message's update; that of a reduce-scatter is
/// what all ranks' shares take together. Nothing is updated, clipped or said of the loss.
/// Precondition: messages have their `shardUpdate`.
Scenario accumulatingMicroBatch(const Scenario &scenario, double share);

/// The step of `microBatches` micro-batches whose last one is the scenario's step, as ranks issue
/// it. Micro-batches before the last one do what accumulatingMicroBatch() does. Where the step
/// waits for messages of the step before, the first micro-batch waits for its sums, and each for
/// the factors of the one before it. Factors of earlier micro-batches are messages behind all
/// others but the loss (Message::inLastMicroBatch). The loss of the step before has all
/// micro-batches to arrive. Precondition: as accumulatingMicroBatch's; microBatches is 1 or more.
Scenario wholeStep(const Scenario &scenario, std::int64_t microBatches, double share);

} // namespace syncline::simulate
