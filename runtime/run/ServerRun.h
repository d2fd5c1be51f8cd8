// A dedicated parameter server's part of a run: no data, no step, only sums.
#pragma once

#include "runtime/run/Participant.h"

namespace syncline {

/// Sums the plan's buckets by "parameter-server", every step, until the workers' last one; then it
/// ends, whatever the workers still have to do. A server waits as long as it takes for workers that
/// are alive, however long a step of theirs is. Errors: as loadPlan() and Group; peerLost, naming
/// bucket, step and the lost rank.
std::unique_ptr<Participant> createServer(const Options &options, const Identity &identity);

/// The key under which rank 0 tells servers the number of steps: Group::gather() of all ranks.
inline constexpr const char *stepsKey = "steps";
/// The key under which rank 0 tells them the signal by which workers have stopped early:
/// Group::tell(). All ranks, servers too, then gather "left".
inline constexpr const char *stoppedKey = "stopped";

} // namespace syncline
