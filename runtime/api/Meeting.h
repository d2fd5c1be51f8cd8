// How the ranks of a group find rank 0.
#pragma once

#include "runtime/api/GroupSettings.h"
#include "runtime/transport/Group.h"

namespace syncline::api {

/// What Group::join() needs. With a store rank 0 listens on a free port and publishes where, with a
/// secret; otherwise ranks meet at the settings' address and port. Errors: badInput, peerLost.
Result<transport::GroupOptions> findMeeting(const GroupSettings &settings);

} // namespace syncline::api
