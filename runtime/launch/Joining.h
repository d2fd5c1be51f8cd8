// Joining the group at the beginning of a rank's process, and reporting the result at its end.
#pragma once

#include "runtime/launch/Identity.h"
#include "runtime/transport/Group.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::launch {

/// Joins the other ranks, which may take up to `startSeconds`. Errors: as Group::join().
Result<std::unique_ptr<transport::Group>> joinGroup(const Identity &identity, double startSeconds);

/// What the threads of the ranks may expect in vain, as text: OMP_NUM_THREADS where it asks for
/// another number than `threads`, and more processors than a launcher, --pin or the machine leaves
/// to a rank. All `workers` of the group, which may be null, call it. Errors: peerLost.
Result<std::vector<std::string>> notesOnThreads(int threads, transport::Group *group, int workers,
                                                double seconds);

/// Returns the exit code of a successful run. After an error it prints the message on stderr in the
/// program's name, tells the other ranks of `group` (if any), and ends the process at once, because
/// threads may still wait for lost ranks and use the run's objects.
int conclude(const std::string &program, const Status &status, transport::Group *group);

} // namespace syncline::launch
