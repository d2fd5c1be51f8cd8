// Timing messages that the host carries.
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

/// Carries out each transfer again and again, each on a thread of its own. The calling thread hands
/// over every message and waits for it, as training does with a channel, so that what waking both
/// threads takes is part of the time. `warmUps` times do not count and take 1 MiB of longer
/// messages; `runs` times do. All ranks together. Seconds of one run, on the slowest rank; the same
/// on all ranks.
Result<double> timeTransfers(Team &team, std::span<const Transfer> atOnce, Repetitions times);

} // namespace syncline::calibrate
