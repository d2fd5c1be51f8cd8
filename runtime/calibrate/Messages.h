// Ways for messages, each of which can be timed, whoever carries them.
#pragma once

#include "syncline/Scheme.h"
#include "syncline/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace syncline::calibrate {

/// Bytes that are enough to use a burst up: a warm-up's longest message.
inline constexpr std::int64_t longestWarmUp = 1 << 20;

/// How often a message is repeated for one sample.
struct Repetitions {
  static constexpr int maxCount = 50; ///< of either
  int warmUps = 0, runs = 1;

  /// Of a message of so many bytes that took so many seconds, the last time and at its fastest:
  /// runs until the clock and the start do not show; as long before, or some 2 MiB if that is less,
  /// but once at least. Switches and traffic shapers let a burst pass after a rest; in training
  /// messages follow each other, so what counts is the rate behind the burst, which the fastest
  /// time does not tell.
  static Repetitions of(std::int64_t bytes, double fastest, double last);
};

/// Carries messages of so many bytes one behind the other, warm-ups first, of which one carries
/// longestWarmUp at most, then those that count. All ranks together. Seconds of one of these, on
/// the slowest rank; the same on all ranks. Errors: peerLost.
using Timing = std::function<Result<double>(std::int64_t bytes, Repetitions times)>;

/// One scheme of plans, ready to carry messages.
struct TimedScheme {
  Scheme scheme = Scheme::ring;
  std::int64_t largest = 0; ///< bytes of the longest message
  /// What a plan's message, whose bytes are a multiple of 4, does on its channel; of "factors" they
  /// are what one rank contributes. Of "reduce-scatter" without the optimizer between its halves.
  Timing time;
};

struct Messages {
  std::vector<TimedScheme> schemes;
  /// Of two messages at once, by the first scheme, on a channel each: seconds that both take.
  Timing two;
};

/// Bytes of this scheme's longest message where no rank is to hold more than `largest`.
std::int64_t largestMessage(Scheme scheme, int ranks, std::int64_t largest);

} // namespace syncline::calibrate
