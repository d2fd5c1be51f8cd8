// What ranks tell each other about their steps: losses, values that are not finite, signals.
#pragma once

#include "runtime/core/Channel.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace syncline::run {

/// What one message said about the steps since the message before it: mostly one step, with local
/// updates and EASGD those of a window. All ranks receive the same.
struct EarlierLoss {
  std::int64_t step;      ///< the last one of these steps
  double loss;            ///< mean over all ranks and these steps
  std::int64_t steps = 1; ///< number of these steps
  double lastLoss = loss; ///< mean over all ranks, of step `step`
  int notFinite = 0;      ///< number of ranks with a loss or an update that was not finite
  int stopSignal = 0;     ///< the signal that a rank received; 0 for none

  std::int64_t firstStep() const { return step - steps + 1; }
};

/// Sums what ranks have to say about their steps, in one small message at a time. All ranks make
/// the same calls after the same steps.
class LossExchange {
public:
  /// A complete step of this rank.
  struct OwnStep {
    std::int64_t step;
    double loss;
    bool isUpdateFinite = true;
    int stopSignal = 0; ///< that this rank has received so far; 0 for none

    bool isFinite() const;
  };

  /// `channel` is null in a run of one rank, and otherwise outlives this object.
  LossExchange(core::Channel *channel, Scheme scheme, int ranks)
      : channel(channel), scheme(scheme), ranks(ranks) {}

  void add(const OwnStep &own);
  /// Starts the message about the steps that were added since the last one. Preconditions: there is
  /// such a step, and no message is under way.
  Status send();
  /// Waits for the message that is under way, if there is one. Errors: peerLost.
  Status receive();
  /// Receives what is under way and tells of all steps so far. Errors: peerLost.
  Status settle();
  /// On how many ranks `met` is true. Precondition: no message is under way. Errors: peerLost.
  Result<int> count(bool met);
  /// The all-reduce by which the messages travel.
  Scheme by() const { return scheme; }

  /// The messages that have arrived since the last forget().
  const std::vector<EarlierLoss> &arrived() const { return received; }
  void forget() { received.clear(); }
  /// The first step of this rank whose loss or update was not finite.
  const std::optional<OwnStep> &firstNotFinite() const { return notFinite; }

private:
  struct Sums { ///< over the steps of one message; over all ranks once it has arrived
    double loss = 0, notFinite = 0, interrupted = 0, terminated = 0;
    double lastLoss = 0; ///< stays behind where there is one step, whose loss is the sum
  };
  Status issue(std::size_t bytes);
  int stopSignal() const;

  core::Channel *const channel;
  const Scheme scheme;
  const int ranks;
  Sums unsent, shared;
  std::int64_t unsentSteps = 0, sharedSteps = 0;
  std::int64_t lastAdded = -1, lastSent = -1; ///< numbers of steps
  bool isUnderWay = false;
  std::optional<OwnStep> notFinite;
  std::vector<EarlierLoss> received;
};

} // namespace syncline::run
