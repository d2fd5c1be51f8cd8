// One rank's training steps: operations in the plan's order, buckets handed to their channels.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/transport/CommunicationThread.h"

#include <map>
#include <memory>
#include <vector>

namespace syncline {

/// What a step took, in seconds.
struct StepTimes {
  double seconds = 0;
  double exposed = 0; ///< of these, waiting for communication
};

class Trainer {
public:
  /// Opens every channel with the schemes of its buckets. `transport` may be null when there is one
  /// rank. All ranks together. Errors: badInput for a bucket that cannot travel; peerLost.
  static Result<std::unique_ptr<Trainer>> create(Executable &executable, Transport *transport,
                                                 int ranks, const RankLayout &layout = {});

  /// Runs one whole step; input and target are in place. Errors: peerLost, or the backend's.
  Result<StepTimes> step(std::int64_t number);
  /// Runs the operations of phase "forward" only.
  Status forward(std::int64_t number);

  /// Mean over all ranks' losses of the last step that was run. Waits for the others.
  Result<double> finishLoss();
  /// The same of an earlier step, if finished on the side while the present one ran.
  struct EarlierLoss {
    std::int64_t step;
    double loss;
  };
  const std::vector<EarlierLoss> &losses() const { return done; }
  void forgetLosses() { done.clear(); }

  /// Records how long every operation takes from now on.
  void recordTimings() { operationSeconds.resize(executable.operations().size()); }
  const std::vector<std::vector<double>> &timings() const { return operationSeconds; }
  /// Of the last step, over all channels.
  std::vector<BucketTiming> bucketTimings() const;

private:
  Trainer(Executable &executable, int ranks) : executable(executable), ranks(ranks) {}
  Status openChannels(Transport &transport, const RankLayout &layout);
  Status findBuckets();
  Status runOperation(std::size_t index);

  struct BucketPlace {
    CommunicationThread *channel;
    void *data;
    std::size_t bytes;
    ElementType type;
    std::string_view scheme;
  };

  Executable &executable;
  const int ranks;
  std::map<int, std::unique_ptr<CommunicationThread>> channels;
  std::map<int, BucketPlace> places; ///< by bucket id
  std::vector<std::vector<double>> operationSeconds;

  // The loss travels behind the step's buckets, while the next step computes.
  static constexpr int lossBucket = -1;
  double lossSum = 0;
  std::int64_t lossStep = -1;
  std::vector<EarlierLoss> done;
};

} // namespace syncline
