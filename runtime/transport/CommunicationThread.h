// One channel through the host's memory: a thread carries out collectives in the order of issue
// while the caller computes.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Deadline.h"
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

/// Whoever issues a bucket has computed it; wait() returns when the bucket is done, and the links'
/// time limit bounds it.
class CommunicationThread final : public Channel {
public:
  /// Updates this rank's part of the parameters of a bucket by "reduce-scatter", shardOf(), by the
  /// sums in the same part of the gradients; called by the channel's thread.
  using UpdateShard = std::function<Status(int bucket)>;

  /// Connects for every one of the schemes, at least one; all workers together, with the same
  /// schemes in the same order. Dedicated servers join for "parameter-server", under linkName() as
  /// createAllReduce() extends it. `transport` outlives this object. Errors: as createAllReduce().
  static Result<std::unique_ptr<CommunicationThread>>
  create(Transport &transport, int channel, const std::vector<Scheme> &schemes = {Scheme::ring},
         const RankLayout &layout = {}, UpdateShard updateShard = {});
  static std::string linkName(int channel) { return "channel" + std::to_string(channel); }
  /// Lets the collective under way come to its end or time limit; drops those behind it.
  ~CommunicationThread() override;

  void startStep(std::int64_t step, bool replayed = false) override;
  /// These queue; what goes wrong is wait()'s to say.
  Status issue(int bucket, void *data, std::size_t bytes, ElementType type,
               std::optional<Scheme> scheme = {}) override;
  Status issueGather(int bucket, std::vector<GatherPart> parts) override;
  Status issueSharded(int bucket, const ShardedBucket &sharded) override;
  Range shardOf(std::size_t bytes, ElementType type) const override {
    return ring->blockOf(rank, bytes, type);
  }
  Status wait(int bucket) override;

  /// Seconds that wait() blocked.
  double exposedSeconds() const override { return exposed; }
  std::vector<BucketTiming> timings() const override { return waited; }

private:
  struct Job {
    BucketTiming timing;
    std::string_view what; ///< for errors: "all-reduce"
    std::function<Status()> carryOut;
    std::int64_t step;
    Clock::time_point stepStart;
    bool done = false;
  };

  using AllReduces = std::map<Scheme, std::unique_ptr<AllReduce>>;
  CommunicationThread(int rank, AllReduces allReduces, AllReduce *first, std::unique_ptr<Ring> ring,
                      UpdateShard updateShard);
  void enqueue(int bucket, std::string_view what, std::function<Status()> carryOut);
  void work();
  Status carryOut(const Job &job);

  const int rank;
  const AllReduces allReduces;      ///< by scheme
  AllReduce *const first;           ///< null when there is none
  const std::unique_ptr<Ring> ring; ///< of all-gathers and sharded updates; null without these
  const UpdateShard updateShard;
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
