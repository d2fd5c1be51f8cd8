// A channel between the ranks, as the training loop uses it. It carries buckets in the
// order of issue while the rank computes. Equivalent: a communicator on its own stream
// (ncclComm_t, MPI_Comm).
#pragma once

#include "runtime/core/Range.h"
#include "runtime/core/StepTypes.h"

#include "syncline/Status.h"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::core {

/// Which part of a message travels. A sharded bucket may travel as two messages, and so may a sum
/// by "tree" or another all-reduce with halves.
enum class Half {
  whole,
  first,  ///< the sums, each on one rank, and there the update of a sharded bucket
  second, ///< to all ranks: the parameters of a sharded bucket, or the sums
};

/// What a half of a message by the scheme is called: "reduce-scatter".
constexpr std::string_view halfName(Scheme scheme, Half half) {
  const bool isFirst = half == Half::first;
  if (scheme == Scheme::tree)
    return isFirst ? "reduce" : "broadcast";
  return isFirst ? "reduce-scatter" : "all-gather";
}

/// The number that stands for the loss in the place of a bucket's.
inline constexpr int lossMessage = -1;
/// The number that stands for sums of squares in the place of a bucket's: those of
/// StepRunner::shardSquares() and, where parts of buckets are updated later, LAMB's.
inline constexpr int squaresMessage = std::numeric_limits<int>::max();
/// The number that stands for a fragment of the weights in the place of a bucket's.
inline constexpr int fragmentMessage(int fragment) { return lossMessage - 1 - fragment; }
/// The number that stands for a sum of other values than the plan's, which travels unrounded.
inline constexpr int otherMessage = std::numeric_limits<int>::min();
/// "bucket 2", "the loss", "the sum of squares", "fragment 0".
inline std::string messageName(int bucket) {
  if (bucket == otherMessage)
    return "a message outside of the plan";
  if (bucket == lossMessage)
    return "the loss";
  if (bucket == squaresMessage)
    return "the sum of squares";
  return bucket >= 0 ? "bucket " + std::to_string(bucket)
                     : "fragment " + std::to_string(fragmentMessage(0) - bucket);
}

/// When one bucket's message was issued, started and finished, in seconds from the startStep()
/// before its issue, which was that of step `step`.
struct BucketTiming {
  int bucket = -1;
  double issued = 0, started = 0, finished = 0;
  std::int64_t step = 0;
  Half half = Half::whole;
};

/// A bucket whose update is spread over the ranks. Its gradients and its parameters have equally
/// many bytes and one type.
struct ShardedBucket {
  void *gradients, *parameters;
  std::size_t bytes;
  ElementType type;
  /// Whether every rank also receives the complete gradients, which costs one more all-gather.
  bool wholeGradients = false;
  Half half = Half::whole;
  /// Whether the first half leaves out ShardedOptimizer::updateShard(), which the caller then calls
  /// between the halves.
  bool updatesLater = false;
};

/// All calls come from one thread. Ranks issue the same buckets in the same order, and wait for
/// each before they issue it again.
///
/// A message starts after all that the executable was told to run before the message's issue, and
/// what the executable is told to run after wait() starts after the message. A device orders both
/// by events, so that neither call waits for the device.
///
/// Errors of all calls: peerLost, naming bucket, step and the lost rank. After the first error
/// every call fails with the same error.
class Channel {
public:
  virtual ~Channel() = default;

  /// Begins step `step` and restarts the timings. Buckets of the step before may still be under
  /// way. With `replayed` the executable replays a captured step; then neither issue nor wait is
  /// called, and the timings are those of the captured step's buckets.
  virtual void startStep(std::int64_t step, bool replayed = false) = 0;
  /// Goes on with the step in the part of it that StepRunner::choosePart() has chosen, which the
  /// executable captures or replays apart. Not called for a step of one micro-batch, nor before its
  /// first part. `replayed` as startStep() has it.
  virtual void startPart(bool /*replayed*/) {}
  /// Queues the sum of a bucket over the ranks by one of the channel's all-reduces, the first one
  /// without `scheme`. The bytes belong to the channel until wait(). Bucket lossMessage is the loss
  /// with the numbers that travel beside it, at most eight f64 in the host's memory. A
  /// fragmentMessage() may stay under way over any number of steps. squaresMessage is f64 in the
  /// buckets' memory.
  virtual Status issue(int bucket, void *data, std::size_t bytes, ElementType type,
                       std::optional<Scheme> scheme = {}) = 0;
  /// Queues one half of a sum. The first leaves each part of the sum on one rank (by "tree" on the
  /// trees' roots) and something else on the others. The second sends the parts to all ranks.
  /// wait() waits for both where both were issued. Errors of wait(); internal where the channel has
  /// no halves of the scheme.
  virtual Status issueHalf(int, void *, std::size_t, ElementType, Scheme, Half) {
    return Status::error(ErrorKind::internal, "this channel has no halves of sums");
  }
  /// Queues an all-gather (scheme "factors"). This rank's parts are in place. All parts belong to
  /// the channel until wait().
  virtual Status issueGather(int bucket, std::vector<GatherPart> parts) = 0;
  /// Queues a sum, ShardedOptimizer::updateShard() and an all-gather of the parameters as one job
  /// (scheme "reduce-scatter"). Its gradients and parameters belong to the channel until wait().
  /// A bucket in halves is two jobs, the first half before the second; wait() waits for both.
  virtual Status issueSharded(int bucket, const ShardedBucket &sharded) = 0;
  /// The part of a sharded bucket that this rank updates, in whole elements. The ranks' parts lie
  /// one behind the other in rank order. Precondition: the channel has the scheme "reduce-scatter".
  virtual Range shardOf(std::size_t bytes, ElementType type) const = 0;
  /// What the executable runs after this call finds the bucket complete. For the loss, the values
  /// are in the host's memory when the call returns.
  virtual Status wait(int bucket) = 0;

  /// Seconds that computation stood still for messages since startStep(). Valid once the executable
  /// has been synchronized, as timings() is.
  virtual double exposedSeconds() const = 0;
  /// Timings of the buckets that were waited for since startStep(), in the order of their waits.
  virtual std::vector<BucketTiming> timings() const = 0;
};

/// Opens one channel with the schemes of its buckets, at least one. All ranks call it together,
/// in the channels' order. Errors: badInput for a scheme or layout that the channel cannot
/// carry; peerLost.
using OpenChannel = std::function<Result<std::unique_ptr<Channel>>(
    int channel, const std::vector<Scheme> &schemes)>;

} // namespace syncline::core
