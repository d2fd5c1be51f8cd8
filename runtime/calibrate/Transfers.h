// Timing messages.
#pragma once

#include "runtime/calibrate/Collectives.h"
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

/// Carries out each transfer again and again, each on a thread of its own, as channels do, while
/// the calling thread waits: `warmUps` times, which do not count and take 1 MiB of longer messages;
/// then `runs` times, from a common start to the end of the last. All ranks together. Seconds of
/// one run, on the slowest rank; the same on all ranks.
Result<double> timeTransfers(Team &team, std::span<const Transfer> atOnce, Repetitions times);

} // namespace syncline::calibrate
