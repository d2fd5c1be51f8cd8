// Timing messages, with or without computation beside them.
#pragma once

#include "runtime/calibrate/Collectives.h"
#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Team.h"

#include <span>

namespace syncline::calibrate {

struct Transfer {
  const Collective *by;
  std::int64_t bytes;
};

struct Timing {
  double seconds = 0;   ///< of one run, on the slowest rank; the same on all ranks
  double computing = 0; ///< of one load operation beside it, likewise; 0 where too few ran to tell
};

/// Carries out each transfer `runs` times, each on a thread of its own, as channels do, all from a
/// common start to the end of the last. With `load` all ranks run its load operation meanwhile, on
/// the calling thread; without, that thread waits. All ranks together.
Result<Timing> timeTransfers(Team &team, std::span<const Transfer> atOnce, int runs, Device *load);

/// Seconds of one load operation on the slowest rank while all ranks run it and nobody sends.
Result<double> timeLoad(Team &team, Device &device, int runs);

/// How often a message of so many seconds is repeated for one sample, so that the clock and the
/// start do not show.
int runsFor(double seconds);

} // namespace syncline::calibrate
