// Timing messages through the host's memory.
#pragma once

#include "runtime/calibrate/Collectives.h"
#include "runtime/calibrate/Messages.h"
#include "runtime/calibrate/Team.h"

#include <span>

namespace syncline::calibrate {

struct Transfer {
  const Collective *by;
  std::int64_t bytes;
};

/// Repeats each transfer on its own thread, as channels do, while the calling thread waits. First
/// `warmUps` uncounted runs of at most 1 MiB, then `runs` counted runs, from a common start to the
/// end of the last one. Returns the seconds of one run on the slowest rank, the same value on all
/// ranks. All ranks call it together.
Result<double> timeTransfers(Team &team, std::span<const Transfer> atOnce, Repetitions times);

} // namespace syncline::calibrate
