// The beginning and the end of a process that is one rank of a run.
#pragma once

#include "runtime/launch/Identity.h"
#include "runtime/transport/Group.h"

#include <memory>
#include <string>

namespace syncline {

/// Meets the other ranks, which may take `startSeconds`. Errors: as Group::join().
Result<std::unique_ptr<Group>> joinGroup(const Identity &identity, double startSeconds);

/// The exit code of what came to a good end. After an error tells it on stderr in the program's
/// name, and the other ranks, if there is a group, and ends the process at once: threads may still
/// wait for lost ranks, up to the time limit, with what the run's objects hold.
int conclude(const std::string &program, const Status &status, Group *group);

} // namespace syncline
