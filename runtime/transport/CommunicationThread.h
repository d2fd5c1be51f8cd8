// One channel through the host's memory. Its thread carries out collectives in the order of issue
// while the caller computes.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Deadline.h"
#include "runtime/core/ShardedOptimizer.h"
#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Ring.h"
#include "runtime/transport/collectives/RoundingTransport.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace syncline::transport {

/// A bucket's values are computed before its issue. wait() returns when the bucket is complete; the
/// links' time limit bounds the wait.
class CommunicationThread final : public core::Channel {
public:
  /// Updates this rank's part of a bucket by "reduce-scatter", which shardOf() returns: the
  /// parameters there, by the summed gradients in the same part. Called by the channel's thread.
  /// It may call `sum`, for a few numbers, before it returns, if it does so on all ranks.
  using UpdateShard = std::function<Status(int bucket, const core::SumOverRanks &sum)>;

  /// Opens the links of all `schemes`, at least one. All workers call it together with the
  /// same schemes in the same order. For "parameter-server", dedicated servers open their
  /// ends under linkName(), extended as in createAllReduce(). `transport` outlives this
  /// object. With a `wire` of 16 bits, gradients and factors of f32 travel rounded and are added in
  /// f32; parameters, losses and fragments travel as they are. Errors: as createAllReduce();
  /// badInput for "library", which only NCCL has.
  static Result<std::unique_ptr<CommunicationThread>>
  create(Transport &transport, int channel, const std::vector<Scheme> &schemes = {Scheme::ring},
         const RankLayout &layout = {}, UpdateShard updateShard = {},
         core::WirePrecision wire = core::WirePrecision::fp32);
  /// From now on nobody waits: the channel's thread calls `done` at the end of each message, in the
  /// order of issue, with the message's error or that of an earlier one. Precondition: nothing was
  /// issued yet.
  using Done = std::function<void(const core::BucketTiming &, const Status &)>;
  void whenDone(Done call) { done = std::move(call); }
  /// From now on the channel's thread calls `begun` when it takes up a message. Precondition: as of
  /// whenDone(), nothing was issued.
  void whenBegun(std::function<void()> call) { begun = std::move(call); }
  static std::string linkName(int channel) { return "channel" + std::to_string(channel); }
  /// Waits until the collective under way ends or reaches its time limit; drops the queued ones.
  ~CommunicationThread() override;

  void startStep(std::int64_t step, bool replayed = false) override;
  /// Enqueue only; wait() reports errors.
  Status issue(int bucket, void *data, std::size_t bytes, ElementType type,
               std::optional<Scheme> scheme = {}) override;
  Status issueHalf(int bucket, void *data, std::size_t bytes, ElementType type, Scheme scheme,
                   core::Half half) override;
  Status issueGather(int bucket, std::vector<core::GatherPart> parts) override;
  Status issueSharded(int bucket, const core::ShardedBucket &sharded) override;
  core::Range shardOf(std::size_t bytes, ElementType type) const override {
    return ring->blockOf(rank, bytes, type);
  }
  Status wait(int bucket) override;

  /// Seconds that wait() blocked.
  double exposedSeconds() const override { return exposed; }
  std::vector<core::BucketTiming> timings() const override { return waited; }

private:
  struct Job {
    core::BucketTiming timing;
    std::string_view what; ///< for errors: "all-reduce"
    std::function<Status()> carryOut;
    std::int64_t step;
    core::Clock::time_point stepStart;
    bool done = false;
  };

  using AllReduces = std::map<Scheme, std::unique_ptr<AllReduce>>;
  CommunicationThread(int rank, std::unique_ptr<RoundingTransport> rounding, AllReduces allReduces,
                      AllReduce *first, std::unique_ptr<Ring> ring, UpdateShard updateShard);
  /// Carries out `travel` with values rounded on the way, if `rounds` and the channel has such
  /// a wire. Returns whether it was so, or the error.
  Result<bool> travelRounded(bool rounds, const std::function<Status()> &travel);
  /// As travelRounded() for an all-reduce in place of a bucket or another message.
  Status sum(int bucket, void *data, std::size_t bytes, ElementType type,
             const std::function<Status()> &travel);
  Status gather(const std::vector<core::GatherPart> &parts);
  Status update(int bucket);
  void enqueue(int bucket, std::string_view what, std::function<Status()> carryOut,
               core::Half half = core::Half::whole);
  Status wait(const Job &job);
  void work();
  Status carryOut(const Job &job);

  const int rank;
  const std::unique_ptr<RoundingTransport> rounding; ///< null with a wire of f32
  const AllReduces allReduces;                       ///< by scheme
  AllReduce *const first;           ///< the first all-reduce of `schemes`; null without one
  const std::unique_ptr<Ring> ring; ///< for all-gathers and sharded updates; null without these
  const UpdateShard updateShard;
  Done done;                   ///< empty where the caller waits
  std::function<void()> begun; ///< empty where nobody asks
  core::Clock::time_point stepStart = core::Clock::now();
  std::int64_t step = 0;
  double exposed = 0;
  std::vector<core::BucketTiming> waited; ///< timings of this step's buckets

  std::mutex mutex;
  std::condition_variable issued, finished;
  std::deque<std::shared_ptr<Job>> queue; ///< jobs to be carried out; the first may be under way
  std::vector<std::shared_ptr<Job>> underWay; ///< jobs that were issued and not waited for
  Status failure;
  bool stop = false;
  std::thread thread;
};

} // namespace syncline::transport
