// Starts the ranks of a run on this host and looks after them.
#pragma once

#include "runtime/launch/Identity.h"

#include <string>
#include <vector>

namespace syncline {

/// Runs this program again, once a rank, servers included, with RANK, WORLD_SIZE, LOCAL_RANK,
/// LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT set, and waits for all. Ranks find themselves on
/// as many nodes as the plan expects, servers on one of their own. Rank 0's output is shown;
/// another's is shown, line by line behind "[rank N]", when that rank is the first to fail and rank
/// 0 cannot tell of it.
///
/// Once a rank has failed, the others get a few seconds to end by themselves. SIGINT, SIGTERM and
/// SIGHUP end all ranks; they also end when this process is killed.
///
/// Messages begin with the name of this program, the first of `arguments`.
///
/// Returns the exit code: 0, or the first failing rank's, where death by a signal counts as 3 (our
/// fault) for a crash and 1 otherwise.
int launchLocally(const RunShape &shape, const std::vector<std::string> &arguments);

} // namespace syncline
