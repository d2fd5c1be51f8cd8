// The run of one process: a worker's, from the plan folder to the trained model, or a server's.
#pragma once

#include "runtime/launch/Identity.h"
#include "runtime/run/Options.h"

namespace syncline::run {

/// Loads the plan, joins the other ranks, trains, evaluates and saves; a server serves sums
/// instead. Prints one message on failure. Returns the exit code, or ends the process with it where
/// threads still wait for lost ranks.
int runRank(const Options &options, const launch::Identity &identity);

} // namespace syncline::run
