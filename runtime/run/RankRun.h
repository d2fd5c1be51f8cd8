// One rank's run from the plan folder to the trained model.
#pragma once

#include "runtime/launch/Identity.h"
#include "runtime/run/Options.h"

namespace syncline {

/// Loads, joins the others, trains, evaluates, saves. Prints one message on failure. Returns the
/// exit code, or ends the process with it where threads still wait for lost ranks.
int runRank(const Options &options, const Identity &identity);

} // namespace syncline
