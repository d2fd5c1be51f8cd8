// What a rank does between its steps where weights, not gradients, travel.
#pragma once

#include "runtime/core/Deadline.h"
#include "syncline/Status.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace syncline::core {

/// How far ranks drifted apart. Leads and staleness are in steps.
struct DriftCounts {
  std::int64_t largestLead = 0; ///< ahead of the slowest rank, at the beginning of a step
  /// The staleness of a step is the number of complete steps of this rank less those of every rank
  /// that its weights are known to contain.
  std::int64_t largestStaleness = 0, staleness = 0; ///< the second is the sum over the steps
  std::int64_t steps = 0;                           ///< over which staleness was counted
  double waited = 0;                                ///< seconds

  void add(const DriftCounts &other) {
    largestLead = std::max(largestLead, other.largestLead);
    largestStaleness = std::max(largestStaleness, other.largestStaleness);
    staleness += other.staleness;
    steps += other.steps;
    waited += other.waited;
  }
};

/// What this rank asked of servers, for a trace. Times are by the rank's own clock.
struct ServerRequest {
  enum class Kind {
    push,    ///< sending an update
    read,    ///< from the request to its last value
    elastic, ///< from the first value that leaves to the last one that comes
    tick,    ///< sending a clock
    grant    ///< waiting for the answer to a tick
  } kind = Kind::push;
  std::int64_t clock = 0; ///< number of complete steps that the request states
  Clock::time_point begin, end;
  /// Seconds for which a server held the answer back, and when the answer came; of several servers
  /// those of the one that did so longest.
  double held = 0;
  Clock::time_point answered;
};

/// A part of what a checkpoint holds of exchanges.
struct ExchangeState {
  std::span<float> weights; ///< in the executable's memory, or
  std::span<std::byte> own; ///< in the host's memory

  std::size_t bytes() const { return weights.size_bytes() + own.size(); }
};

/// The exchanges of one form of consistency on one rank. One thread makes all calls. Errors of all
/// calls: peerLost; internal where a bound that the plan states is exceeded. Where weights lie on a
/// device calls may only enqueue; StepRunner::synchronize() then waits, and reports lost peers.
class Exchanges {
public:
  virtual ~Exchanges() = default;

  /// Begins the training, with the initial weights.
  virtual Status begin() { return Status::ok(); }
  /// Makes the weights ready for step `number`.
  virtual Status beforeStep(std::int64_t number) = 0;
  /// Exchanges what is due after step `number`, which is complete.
  virtual Status afterStep(std::int64_t number) = 0;
  /// Whether the bytes counted up to the end of step `number` are those of whole steps.
  virtual bool isStill(std::int64_t number) const = 0;
  /// Waits for messages under way that touch the weights.
  virtual Status drain() = 0;
  /// Ends the training. All ranks then have equal weights.
  virtual Status finish() = 0;
  /// What a checkpoint holds beside the weights, in a fixed order, while isStill() after the last
  /// step. A run that takes these bytes and the weights back goes on as this one does.
  virtual std::vector<ExchangeState> state() { return {}; }

  /// Seconds that the rank has waited since the beginning, as far as no channel counts them.
  virtual double waitedSeconds() const { return 0; }
  virtual DriftCounts drift() const { return {}; }
  /// The signal by which another rank ends the run, as far as this one knows; 0 for none.
  virtual int stopSignal() const { return 0; }

  /// From now on requests are recorded.
  virtual void recordRequests() {}
  /// The recorded requests that have ended since the last call, each kind in the order of time.
  virtual std::vector<ServerRequest> takeRequests() { return {}; }
};

} // namespace syncline::core
