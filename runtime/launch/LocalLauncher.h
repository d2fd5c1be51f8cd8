// Starts the ranks of a run on this host and supervises them.
#pragma once

#include "runtime/launch/Identity.h"

#include <string>
#include <vector>

namespace syncline::launch {

/// How local ranks are started.
struct LocalLaunch {
  bool pins = false;
  int threads = 1; ///< that compute in each rank
};

inline LocalLaunch localLaunch(const IdentityFlags &flags, int threads) {
  return {flags.pins, threads};
}

/// Runs this program again for each rank and server, with RANK, WORLD_SIZE, LOCAL_RANK,
/// LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT set, and waits for all of them. The variables
/// place the ranks on as many nodes as the plan expects, and servers on a separate node. Rank 0's
/// output is shown. Another rank's output is shown, each line after "[rank N]", when that rank
/// failed first and rank 0 did not report the error.
///
/// With `pins`, rank i stays on as many processors as it has threads: the i-th such block of those
/// that this process may use, modulo their number. Servers may use all.
///
/// Rank 0 listens on a free port of the loopback interface.
///
/// Once a rank has failed, the others have a few seconds to end by themselves. The first SIGINT,
/// SIGTERM or SIGHUP lets all ranks finish their step and save, the second ends them. All ranks
/// also end when this process is killed.
///
/// Messages begin with the program's name, the first of `arguments`.
///
/// Returns 0 or the exit code of the first rank that failed. Death by a signal counts as 3
/// (internal error) for a crash and as 1 otherwise.
int launchLocally(const RunShape &shape, const std::vector<std::string> &arguments,
                  const LocalLaunch &how);

} // namespace syncline::launch
