// The ranks of a group as a backend's channels meet them.
#pragma once

#include "runtime/core/Peers.h"
#include "runtime/transport/Group.h"

namespace syncline {

/// Of the group's ranks that compute, servers are none of it. `group` outlives the result.
/// `timeoutSeconds` as Peers says; ranks may be `startSeconds` apart in what they exchange.
std::unique_ptr<Peers> createPeers(Group &group, double timeoutSeconds, double startSeconds);

} // namespace syncline
