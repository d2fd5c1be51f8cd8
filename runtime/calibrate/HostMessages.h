// Messages through the host's memory, by the collectives of the runtime's own.
#pragma once

#include "runtime/calibrate/Messages.h"
#include "runtime/calibrate/Team.h"
#include "runtime/transport/collectives/AllReduce.h"

namespace syncline::calibrate {

/// Opens the links of all schemes, and once more those of the first; all ranks together.
/// `transport` and `team`, of the same ranks, outlive the result. Nothing is longer than
/// largestMessage() of `largest` bytes. Errors: peerLost.
Result<Messages> openHostMessages(Transport &transport, Team &team, const RankLayout &layout,
                                  const std::vector<Scheme> &schemes, std::int64_t largest);

/// The same for the ring of a node's ranks.
Result<TimedScheme> openNodeRing(Transport &node, Team &team, std::int64_t largest);

} // namespace syncline::calibrate
