// A step of several batches (`run --accumulate`): what a pass takes that is not the last one.
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

} // namespace syncline::simulate
