// A dedicated parameter server's part of a run. It has no data and no step; it only sums.
#pragma once

#include "runtime/run/Participant.h"

namespace syncline::run {

/// Sums the plan's buckets that travel by "parameter-server" in every step and ends after the
/// workers' last step, even if workers still evaluate or save. A server waits without limit for
/// workers that are alive, however long their steps are. Errors: as loadPlan() and Group; peerLost,
/// naming bucket, step and the lost rank.
std::unique_ptr<Participant> createServer(const Options &options, const launch::Identity &identity);

/// The key of the Group::gather() among all ranks by which rank 0 tells servers the number
/// of steps at the end and, behind a blank, at the beginning.
inline constexpr const char *stepsKey = "steps";
/// The key of the Group::tell() by which rank 0 tells servers the signal that stopped the workers
/// early. All ranks, including servers, then gather "left".
inline constexpr const char *stoppedKey = "stopped";
/// Tells the servers of the sums that the workers have stopped by `signal`. All workers call it
/// together. Errors: peerLost.
Status stopServers(transport::Group &group, int signal, double timeoutSeconds);

} // namespace syncline::run
