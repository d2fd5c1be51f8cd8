// One process's run: a worker's from the plan folder to the trained model, or a server's.
#pragma once

#include "runtime/launch/Identity.h"
#include "runtime/run/Options.h"

namespace syncline {

/// Loads, joins the others, trains, evaluates, saves; a server only serves. Prints one message on
/// failure. Returns the exit code, or ends the process with it where threads still wait for lost
/// ranks.
int runRank(const Options &options, const Identity &identity);

} // namespace syncline
