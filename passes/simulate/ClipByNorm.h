// ClipByNorm: a step whose updates wait for the norm of all gradients.
#pragma once

#include "passes/simulate/Scenario.h"

namespace syncline::simulate {

/// Lets updates wait for the norm of all gradients. In the place of each update a rank adds up the
/// squares of the message's gradients, which takes `share` of the update's time; all updates follow
/// behind all other operations.
///
/// A message by reduce-scatter adds up the squares of a rank's part in the place of its update. The
/// ranks sum these in one more message by `normScheme`, where there are several. Then each rank
/// updates its parts, and the parameters are gathered, before the other updates.
///
/// Preconditions: no step waits for messages of the step before, messages have their `shardUpdate`,
/// and the scenario has neither the loss's message nor an overhead yet.
void clipByNorm(Scenario &scenario, double share, std::optional<Scheme> normScheme = {});

} // namespace syncline::simulate
