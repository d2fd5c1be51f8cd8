// Messages through the host's memory, by the runtime's own collectives.
#pragma once

#include "runtime/calibrate/Messages.h"
#include "runtime/calibrate/Team.h"
#include "runtime/transport/collectives/AllReduce.h"

namespace syncline::calibrate {

/// Opens the links of all schemes, and a second set for the first scheme. All ranks call it
/// together. `transport` and `team` have the same ranks and outlive the result. No message is
/// longer than largestMessage() for `largest`. Errors: peerLost.
Result<Messages> openHostMessages(transport::Transport &transport, Team &team,
                                  const transport::RankLayout &layout,
                                  const std::vector<Scheme> &schemes, std::int64_t largest);

/// Opens the ring of a node's ranks, as openHostMessages().
Result<TimedScheme> openNodeRing(transport::Transport &node, Team &team, std::int64_t largest);

} // namespace syncline::calibrate
