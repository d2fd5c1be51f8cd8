// Joining by an identity, and reporting errors before the process ends.
#include "runtime/launch/Joining.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace syncline::launch {

Result<std::unique_ptr<transport::Group>> joinGroup(const Identity &identity, double startSeconds) {
  transport::GroupOptions how;
  how.rank = identity.rank;
  how.size = identity.size;
  how.workers = identity.workers();
  how.address = identity.masterAddress;
  how.port = identity.masterPort;
  how.listener = identity.listener;
  how.interface = identity.interface;
  how.job = identity.job;
  how.startSeconds = startSeconds;
  return transport::Group::join(how);
}

int conclude(const std::string &program, const Status &status, transport::Group *group) {
  if (status)
    return 0;
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), status.message().c_str());
  if (group)
    group->abandon(status);
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(status.exitCode());
}

} // namespace syncline::launch
