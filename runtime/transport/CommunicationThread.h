// One channel: carries out collectives in the order of issue while the caller computes.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/transport/Deadline.h"
#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Ring.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
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
  /// Updates this rank's part of the parameters, shardOf(), by the sums in the same part of the
  /// gradients; called by the channel's thread.
  std::function<Status()> update;
  /// Also completes the gradients on every rank, for whoever wants to see them.
  bool wholeGradients = false;
};

/// issue..() and wait() are called by one thread. Ranks issue the same buckets in the same order.
class CommunicationThread {
public:
  /// Connects for every one of the schemes, at least one; all workers together, with the same
  /// schemes in the same order. Dedicated servers join for "parameter-server", under linkName() as
  /// createAllReduce() extends it. `transport` outlives this object. Errors: as createAllReduce().
  static Result<std::unique_ptr<CommunicationThread>>
  create(Transport &transport, int channel, const std::vector<std::string> &schemes = {"ring"},
         const RankLayout &layout = {});
  static std::string linkName(int channel) { return "channel" + std::to_string(channel); }
  /// Lets the collective under way come to its end or time limit; drops those behind it.
  ~CommunicationThread();

  /// Begins step `step`: timings start anew. Buckets may still be under way from the step before.
  void startStep(std::int64_t step);
  /// Queues the sum over ranks of a bucket by one of the channel's all-reduces, the first if none
  /// is named; its bytes belong to the channel until wait() returns. Before the same bucket is
  /// issued again, it is waited for. A negative bucket is the loss.
  void issue(int bucket, void *data, std::size_t bytes, ElementType type,
             std::string_view scheme = {});
  /// The same for an all-gather, scheme "factors": this rank's parts are in place.
  void issueGather(int bucket, std::vector<GatherPart> parts);
  /// The same for a sum, an update and an all-gather in one, scheme "reduce-scatter".
  void issueSharded(int bucket, ShardedBucket sharded);
  /// The part of such a bucket that this rank updates. Precondition: the channel has the scheme.
  Range shardOf(std::size_t bytes, ElementType type) const {
    return ring->blockOf(rank, bytes, type);
  }
  /// Returns when the bucket is done. The links' time limit bounds it. Errors: peerLost, naming
  /// bucket, step and the lost rank; after the first error every wait fails with it.
  Status wait(int bucket);

  /// Seconds that wait() blocked since startStep().
  double exposedSeconds() const { return exposed; }
  /// Of the buckets waited for since startStep(), in that order.
  const std::vector<BucketTiming> &timings() const { return waited; }

private:
  struct Job {
    BucketTiming timing;
    std::string_view what; ///< for errors: "all-reduce"
    std::function<Status()> carryOut;
    std::int64_t step;
    Clock::time_point stepStart;
    bool done = false;
  };

  using AllReduces = std::map<std::string, std::unique_ptr<AllReduce>, std::less<>>;
  CommunicationThread(int rank, AllReduces allReduces, AllReduce *first,
                      std::unique_ptr<Ring> ring);
  void enqueue(int bucket, std::string_view what, std::function<Status()> carryOut);
  void work();
  Status carryOut(const Job &job);

  const int rank;
  const AllReduces allReduces;      ///< by scheme
  AllReduce *const first;           ///< null when there is none
  const std::unique_ptr<Ring> ring; ///< of all-gathers and sharded updates; null without these
  Clock::time_point stepStart = Clock::now();
  std::int64_t step = 0;
  double exposed = 0;
  std::vector<BucketTiming> waited; ///< of this step

  std::mutex mutex;
  std::condition_variable issued, finished;
  std::deque<std::shared_ptr<Job>> queue;     ///< not yet carried out; the first may be under way
  std::vector<std::shared_ptr<Job>> underWay; ///< issued and not waited for
  Status failure;
  bool stop = false;
  std::thread thread;
};

} // namespace syncline
