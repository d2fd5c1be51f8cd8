// One rank's training steps: operations in the plan's order, buckets handed to their channels.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Executable.h"
#include "runtime/run/trace/StepRecord.h"
#include "runtime/transport/collectives/AllReduce.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace syncline {

/// What a step took on this rank.
struct StepTimes {
  double seconds = 0;
  double exposed = 0; ///< of these, waiting for communication
  /// Bytes of messages: of the step's buckets and of the loss of the step before. None where nobody
  /// counts.
  std::optional<Traffic> moved;
};

/// How several ranks reach each other.
struct TrainerLinks {
  int servers = 0; ///< of their own, behind the ranks: they know only gradients
  OpenChannel open;
  std::function<Traffic()> traffic; ///< this rank's so far; empty where nobody counts
};

/// Channels through the host's memory. The transport has the ranks that compute and behind them the
/// layout's servers, which open linkName(channel) + "/parameter-server" for every channel with such
/// buckets, in the channels' order. All objects outlive the channels. Errors: internal, where the
/// numbers do not fit.
Result<TrainerLinks> hostLinks(ShardedOptimizer &optimizer, Transport &transport, int ranks,
                               const RankLayout &layout);

class Trainer {
public:
  /// Opens every channel with the schemes of its buckets; `links` are for several ranks, of which
  /// all call it together. Errors: badInput for a bucket that cannot travel; peerLost.
  static Result<std::unique_ptr<Trainer>> create(Executable &executable, int ranks,
                                                 const TrainerLinks &links = {});

  /// From the second step on, captures the step once and replays it, where the executable can; a
  /// step whose gradients are wanted whole runs as it is.
  void captureSteps() { captures = executable.canCapture(); }

  /// Runs one whole step; input and target are in place. Afterwards every rank has all summed
  /// gradients, those of buckets by "reduce-scatter" only with `wholeGradients`, which costs
  /// another all-gather; the ranks agree on it. `meanwhile` is called once the executable has been
  /// told everything: while a device computes, if there is one. Errors: peerLost, or the backend's.
  Result<StepTimes> step(std::int64_t number, bool wholeGradients = false,
                         const std::function<void()> &meanwhile = {});
  /// Runs the operations of phase "forward" only.
  Status forward(std::int64_t number);

  /// What ranks tell each other of every step, in one message behind its buckets: all ranks read
  /// the same, mostly a step later.
  struct EarlierLoss {
    std::int64_t step;
    double loss;        ///< mean over all ranks
    int notFinite = 0;  ///< ranks whose loss or update was not finite
    int stopSignal = 0; ///< the signal by which a rank was asked to stop; 0: none was
  };
  /// The mean loss of the last step that was run. Waits for the others.
  Result<double> finishLoss();
  /// Of what steps so far have finished, since the last forgetLosses().
  const std::vector<EarlierLoss> &losses() const { return done; }
  void forgetLosses() { done.clear(); }
  /// Whether the last step's has still to be finished.
  bool isLossUnderWay() const { return lossStep >= 0; }

  /// Whom to ask behind each step for SIGINT or SIGTERM, or 0.
  void askForSignal(std::function<int()> received) { signal = std::move(received); }

  /// Keeps a record of every step from now on.
  void recordSteps() {
    isRecording = true;
    hasCaptured = false; // what there is has no marks
  }
  const std::vector<StepRecord> &records() const { return recorded; }
  /// Of the last step, over all channels.
  std::vector<BucketTiming> bucketTimings() const;

private:
  Trainer(Executable &executable, int ranks) : executable(executable), ranks(ranks) {}
  Status openChannels(const TrainerLinks &links);
  Status findBuckets();
  struct BucketPlace {
    Channel *channel; ///< null on one rank
    std::byte *gradients, *parameters;
    std::size_t bytes;
    ElementType type;
    Scheme scheme;
  };
  Status takeShard(int bucket, const BucketPlace &place);
  Status runOperation(std::size_t index);
  Status runOperations();
  Status capture();
  Status runStep(std::int64_t number, const std::function<void()> &meanwhile);
  Status record(std::int64_t number);
  Status issue(int bucket);
  Status issueLoss(std::int64_t number);
  Status gather(std::size_t index);

  Executable &executable;
  const int ranks;
  std::function<Traffic()> traffic;
  Traffic counted;             ///< in the steps so far
  bool wholeGradients = false; ///< of the present step
  std::map<int, std::unique_ptr<Channel>> channels;
  std::map<int, BucketPlace> places; ///< by bucket id
  bool captures = false, hasCaptured = false;
  bool isWarm = false; ///< a step has run: libraries have connected and allocated what they need
  bool isRecording = false;
  Clock::time_point began; ///< the step's first operation
  std::vector<StepRecord> recorded;

  // The loss travels behind the step's buckets, while the next step computes.
  static constexpr int lossBucket = -1;
  Scheme lossScheme = Scheme::ring;
  struct Shared { ///< sums over ranks, once they have arrived
    double loss = 0, notFinite = 0, interrupted = 0, terminated = 0;
  };
  Shared shared;
  std::int64_t lossStep = -1;
  std::function<int()> signal;
  std::vector<EarlierLoss> done;
};

} // namespace syncline
