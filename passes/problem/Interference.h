// Interference: how much computation messages take from the device beside them, and the clock of a
// step that they slow.
//
// Theorem. Let a message of T seconds take L from computation, 0 <= L <= T, and let a clock stand
// still for what messages take: it shows the time less all that they have taken by then. On this
// clock operations last as long as without messages, and a message lasts T - L, whatever runs
// beside it. So a gradient exists at its undisturbed ready time, reconstruction takes its
// undisturbed seconds, and every rule of the model (README.md) holds with T - L in place of T. When
// the step ends all messages are over. So it ends, by the true clock, at the model's finish plus
// the sum of all L.
//
// In true time, for messages in ready order: keep (f, w), the time at which the channel is free and
// the sum of L so far. A message whose last gradient exists undisturbed at B gives
// f' = max(f, B + w) + T and w' = w + L, and the step ends at max(f, R + w), where R is the
// undisturbed end of the backward pass. For if that gradient exists after the channel is free, all
// messages are over and have taken w from it. If B + w <= f, it existed before, since it had lost
// no more than w. Both f' and w' grow with f and w, so a state that is no less in either than
// another one may be dropped.
//
// Units: seconds and bytes. Functions are pure and thread-safe.
#pragma once

#include "passes/problem/Problem.h"

#include <memory>
#include <vector>

namespace syncline::problem {

/// How many times as long (>= 1) operations take beside a message's bytes, and during its latency,
/// which is the time of a message without bytes.
struct Interference {
  double beside = 1, latency = 1;

  bool slows() const { return beside != 1 || latency != 1; }
  /// Seconds of computation that a message of `seconds` takes.
  /// One without bytes takes `latencySeconds`.
  double lost(double latencySeconds, double seconds) const;
};

/// lost() of messages with this cost, by their bytes; null where nothing is slower.
std::shared_ptr<const CollectiveCost> lostCost(const CollectiveCost &cost,
                                               const Interference &interference);

/// The seconds of `cost` with `times` those of `lost`, by bytes.
std::shared_ptr<const CollectiveCost> withLost(const CollectiveCost &cost, double times,
                                               const CollectiveCost &lost);

/// The least seconds of computation for each byte that a message of the class takes, of all
/// messages of up to `most` bytes.
double leastLostPerByte(const MergeClass &mergeClass, std::int64_t most);

/// Sets what the option's messages take from computation, given its cost.
void setLost(SchemeOption &option, const Interference &interference);

/// Whether any message may slow computation.
bool slowsComputation(const Problem &problem);

/// The problem whose messages do not slow computation.
Problem withoutLosses(Problem problem);

/// Seconds of computation that the message takes. Precondition: its option exists.
double lostSeconds(const Problem &problem, const Message &message);

/// Seconds of computation that all messages take. Precondition: as above, for each.
double lostSeconds(const Problem &problem, const Solution &solution);

/// Tells at which time a given amount of computation is done beside messages. Not thread-safe.
class ComputationClock {
public:
  /// A message takes `lost` seconds of computation, spread evenly from start to end. Preconditions:
  /// it starts no earlier than the one before has ended; 0 <= lost <= end - start.
  void add(double start, double end, double lost);

  /// The time at which so many seconds of computation are done if the device is never idle: exactly
  /// `computed` where no message before takes any. O(log n) for n messages.
  double at(double computed) const;

  /// Seconds that all messages take.
  double lost() const { return slowed.empty() ? 0 : slowed.back().lost; }

private:
  struct Slowed {
    double start, end;
    double before, after; ///< seconds of computation done at its start and end
    double lost;          ///< by it and all messages before
  };
  std::vector<Slowed> slowed;
};

} // namespace syncline::problem
