// What the ranks of a run have used, and the most that any of them has.
#pragma once

#include "runtime/transport/Group.h"
#include "runtime/transport/Transport.h"

#include <cstdint>
#include <optional>

namespace syncline::run {

struct Usage {
  std::int64_t peakBytes = 0;                     ///< memory
  std::optional<transport::Traffic> traffic = {}; ///< of a step; none where bytes are not counted
};

/// The largest resident memory of this process so far.
std::int64_t peakMemoryBytes();

/// The most memory of any worker, and the traffic of the worker that moves most. All workers call
/// it together, at the end of the run, so that no rank ends while another still needs its bytes.
/// `group` is null in a run of one rank. Errors: peerLost.
Result<Usage> largestUsage(transport::Group *group, const Usage &own, double timeoutSeconds);

} // namespace syncline::run
