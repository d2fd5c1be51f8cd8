// A group's workers as the Peers of a backend's channels.
#pragma once

#include "runtime/core/Peers.h"
#include "runtime/transport/Group.h"

namespace syncline::transport {

/// Creates the Peers of the group's workers, without servers. `group` outlives the result.
/// `timeoutSeconds` is Peers::timeoutSeconds(); ranks may call exchange() up to
/// `startSeconds` apart.
std::unique_ptr<core::Peers> createPeers(Group &group, double timeoutSeconds, double startSeconds);

} // namespace syncline::transport
