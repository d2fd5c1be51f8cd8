// A channel between the ranks, as the training loop uses it: carries buckets in the order of issue
// while the rank computes.
#pragma once

#include "runtime/core/Range.h"
#include "runtime/core/StepTypes.h"

#include "syncline/Status.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace syncline {

/// One bucket's journey, in seconds from the startStep() before its issue.
struct BucketTiming {
  int bucket = -1;
  double issued = 0, started = 0, finished = 0;
};

/// A bucket whose optimizer is spread over the ranks: gradients and parameters of equally many
/// bytes and of one type.
struct ShardedBucket {
  void *gradients, *parameters;
  std::size_t bytes;
  ElementType type;
  /// Also completes the gradients on every rank, for whoever wants to see them.
  bool wholeGradients = false;
};

/// All calls come from one thread. Ranks issue the same buckets in the same order, and wait for
/// each before they issue it again.
///
/// Messages start behind everything that the executable was told to run before their issue, and
/// what it is told to run after wait() starts behind the message: on a device by events, so that
/// neither call waits for it.
///
/// Errors of all calls: peerLost, naming bucket, step and the lost rank; after the first one every
/// call fails with it.
class Channel {
public:
  virtual ~Channel() = default;

  /// Begins step `step`: timings start anew. Buckets may still be under way from the step before.
  /// With `replayed` the executable replays a captured step instead of being told its operations:
  /// neither issue nor wait is called, and timings are of the same buckets as in the captured step.
  virtual void startStep(std::int64_t step, bool replayed = false) = 0;
  /// Queues the sum over ranks of a bucket by one of the channel's all-reduces, the first if none
  /// is named; its bytes belong to the channel until wait(). A negative bucket is the loss and what
  /// travels with it, at most eight f64 in the host's memory.
  virtual Status issue(int bucket, void *data, std::size_t bytes, ElementType type,
                       std::optional<Scheme> scheme = {}) = 0;
  /// The same for an all-gather, scheme "factors": this rank's parts are in place.
  virtual Status issueGather(int bucket, std::vector<GatherPart> parts) = 0;
  /// The same for a sum, Executable::updateShard() and an all-gather of the parameters in one,
  /// scheme "reduce-scatter".
  virtual Status issueSharded(int bucket, const ShardedBucket &sharded) = 0;
  /// The part of such a bucket that this rank updates: whole elements; the ranks' parts are one
  /// behind the other. Precondition: the channel has the scheme.
  virtual Range shardOf(std::size_t bytes, ElementType type) const = 0;
  /// What is run from here on finds the bucket done. The loss is there when it returns.
  virtual Status wait(int bucket) = 0;

  /// Of the step since startStep(), once the executable has been synchronized: seconds that
  /// computation stood still for messages, and the buckets waited for, in that order.
  virtual double exposedSeconds() const = 0;
  virtual std::vector<BucketTiming> timings() const = 0;
};

/// Opens one channel with the schemes of its buckets, at least one; all ranks together, in the
/// channels' order. Errors: badInput for a scheme or layout that it cannot carry; peerLost.
using OpenChannel = std::function<Result<std::unique_ptr<Channel>>(
    int channel, const std::vector<Scheme> &schemes)>;

} // namespace syncline
