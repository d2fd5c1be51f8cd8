// Timing messages, with or without computation beside them.
#pragma once

#include "runtime/calibrate/Collectives.h"
#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Statistics.h"
#include "runtime/calibrate/Team.h"

#include <span>

namespace syncline::calibrate {

struct Transfer {
  const Collective *by;
  std::int64_t bytes;
};

/// How often a message is repeated for one sample.
struct Repetitions {
  int warmUps = 0, runs = 1;

  /// Of a message of so many bytes that took so many seconds, the last time and at its fastest:
  /// runs until the clock and the start do not show; as long before, or some 2 MiB if that is less,
  /// but once at least. Switches and traffic shapers let a burst pass after a rest; in training
  /// messages follow each other, so what counts is the rate behind the burst, which the fastest
  /// time does not tell.
  static Repetitions of(std::int64_t bytes, double fastest, double last);
};

struct Timing {
  double seconds = 0;   ///< of one run, on the slowest rank; the same on all ranks
  double computing = 0; ///< of one load operation beside it, likewise; 0 where too few ran to tell
};

/// Carries out each transfer again and again, each on a thread of its own, as channels do:
/// `warmUps` times, which do not count and take 1 MiB of longer messages; then `runs` times, from a
/// common start to the end of the last. With `load` all ranks run its load operation meanwhile, on
/// the calling thread; without, that thread waits. All ranks together.
Result<Timing> timeTransfers(Team &team, std::span<const Transfer> atOnce, Repetitions times,
                             Device *load);

/// Seconds of one load operation on the slowest rank while all ranks run it and nobody sends.
Result<double> timeLoad(Team &team, Device &device);

} // namespace syncline::calibrate
