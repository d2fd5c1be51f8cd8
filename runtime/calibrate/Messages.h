// Timed messages by each scheme, through the host's memory or a device's.
#pragma once

#include "syncline/Scheme.h"
#include "syncline/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace syncline::calibrate {

/// The longest warm-up message; it is enough to use up a network's burst.
inline constexpr std::int64_t longestWarmUp = 1 << 20;

/// How often a message is repeated for one sample.
struct Repetitions {
  static constexpr int maxCount = 50; ///< limit of both numbers
  int warmUps = 0, runs = 1;

  /// Repetitions for a message of `bytes` that took `last` seconds the last time and `fastest`
  /// at its fastest: enough runs to make the clock and the start negligible, and at least one
  /// warm-up, for the same time or about 2 MiB, whichever is less. Switches and traffic shapers
  /// let a burst pass after a pause. In training messages follow each other, so the rate after
  /// the burst counts.
  static Repetitions of(std::int64_t bytes, double fastest, double last);
};

/// Carries messages of `bytes` one after the other: first the warm-ups, of at most longestWarmUp
/// bytes each, then the counted ones. Returns the seconds of one counted message on the slowest
/// rank, the same value on all ranks. All ranks call it together. Errors: peerLost.
using Timing = std::function<Result<double>(std::int64_t bytes, Repetitions times)>;

/// One scheme whose messages can be timed.
struct TimedScheme {
  Scheme scheme = Scheme::ring;
  std::int64_t largest = 0; ///< bytes of the longest message
  /// Times messages as a plan's channel carries them; their bytes are a multiple of 4. For
  /// "factors" the bytes are what one rank contributes. "reduce-scatter" runs without the optimizer
  /// between its halves.
  Timing time;
};

struct Messages {
  std::vector<TimedScheme> schemes;
  /// Times two simultaneous messages by the first scheme, each on its own channel: the seconds
  /// until both are complete.
  Timing two;
};

/// Bytes of the scheme's longest message if no rank may hold more than `largest` bytes.
std::int64_t largestMessage(Scheme scheme, int ranks, std::int64_t largest);

} // namespace syncline::calibrate
