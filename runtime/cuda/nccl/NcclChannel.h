// One channel through device memory: NCCL's collectives on the channel's own stream. By events, a
// message starts after the computation that it needs, and computation waits for the message.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/nccl/NcclCollectives.h"
#include "runtime/cuda/nccl/NcclLinks.h"

#include <array>
#include <map>

namespace syncline::cuda {

/// Supports the schemes that NCCL has (isCarried). The loss travels by the algorithm of NCCL's
/// choice. It is the only message for which the host waits.
///
/// Calls can be captured with the executable's step. Calls that issue a message return once NCCL
/// has enqueued it, which takes longer the first time.
class NcclChannel final : public core::Channel, private NcclLinks::Member {
public:
  /// Implements Backend::openChannel(). `links` are those of the executable.
  static Result<std::unique_ptr<core::Channel>> open(CudaExecutable &executable,
                                                     std::shared_ptr<NcclLinks> links,
                                                     core::Peers &peers,
                                                     const core::ChannelOptions &options);
  /// Throws Failure.
  NcclChannel(CudaExecutable &executable, std::shared_ptr<NcclLinks> links, core::Peers &peers,
              const core::ChannelOptions &options);
  ~NcclChannel() override;

  void startStep(std::int64_t step, bool replayed = false) override;
  void startPart(bool replayed) override;
  Status issue(int bucket, void *data, std::size_t bytes, ElementType type,
               std::optional<Scheme> scheme = {}) override;
  /// "ring" and "tree" have halves (NcclCollectives::sumHalf()).
  Status issueHalf(int message, void *data, std::size_t bytes, ElementType type, Scheme scheme,
                   core::Half half) override;
  Status issueGather(int bucket, std::vector<core::GatherPart> parts) override;
  Status issueSharded(int bucket, const core::ShardedBucket &sharded) override;
  core::Range shardOf(std::size_t bytes, ElementType type) const override {
    return shardOfRank(communicator_.rank(), communicator_.size(), bytes, type);
  }
  Status wait(int bucket) override;

  /// Seconds from the moments at which computation reached a wait() until the message was complete.
  /// This and timings() are about the step before the last one if CudaExecutable::looksBack().
  double exposedSeconds() const override;
  /// Timings of all buckets, without the loss.
  std::vector<core::BucketTiming> timings() const override;

private:
  /// One message of a bucket, and its events. The bucket's later messages use them again.
  struct Message {
    Event computed{EventUse::order}, done{EventUse::order};
    Event issued{EventUse::time}, started{EventUse::time}, finished{EventUse::time},
        awaited{EventUse::time};
    MessageName name;
    const Event *stepStart = nullptr;       ///< of the step that issued it
    std::shared_ptr<const Event> keptStart; ///< the same of a fragment, which may outlive steps
    bool isUnderWay = false;                ///< issued, and not waited for
    core::Half half = core::Half::whole;
    std::int64_t place = 0; ///< among the messages of its step, in the order of issue
  };
  /// Without the loss.
  struct StepMessages {
    std::vector<Message *> before; ///< under way when the step began
    std::vector<Message *> issued, waited;
  };
  /// Buffers of the loss and the numbers that travel with it: host memory that the device accesses,
  /// and device memory.
  struct Loss {
    static constexpr std::size_t room = 64; ///< bytes
    Loss();
    ~Loss();
    double *host = nullptr;
    DeviceMemory device{room};
    double *result = nullptr; ///< the address to which wait() copies it
    std::size_t bytes = 0;    ///< bytes of the last loss issued
    Message message;
  };

  /// The messages of what the executable captures or replays at present.
  StepMessages &ofCapture() { return captured[executable.stepTurn()][executable.stepPart()]; }
  void startReplay();
  /// Notes that a replay issues these messages and waits for them.
  void replay(const StepMessages &noted);
  /// Notes the step's start for fragments, which are issued outside the executable's steps.
  void noteStart();
  std::size_t finishedMessages(const MessageName *&underWay) const override;
  NcclCommunicator &communicator() override { return communicator_; }
  std::int64_t scratchFor(const CudaExecutable &executable, int channel) const;
  /// Runs `collective`, which enqueues on the stream, between the message's events.
  template <typename F>
  Status send(int bucket, std::string_view name, const F &collective,
              core::Half half = core::Half::whole);
  /// The message of the bucket, fragment or loss that is under way, or null. What travels in halves
  /// has two messages.
  Message *underWay(int bucket, bool isSecond = false);
  void await(Message &message);
  /// The messages of the present step: those that are captured, or those that the step carries out.
  StepMessages &present();
  /// Whether the messages are being captured apart from the computation.
  bool isApart() const { return executable.carries() && executable.isCapturing(); }
  /// Orders the streams of computation and of messages.
  void record(const Event &event, cudaStream_t stream) const;
  void holdUp(cudaStream_t stream, const Event &event) const;
  Status issueLoss(int bucket, void *data, std::size_t bytes, ElementType type);
  Status waitForLoss();
  bool isFinished(const Message &message) const;
  /// The messages of the step that exposedSeconds() and timings() are about.
  const StepMessages &complete() const { return executable.looksBack() ? stepBefore : now; }
  /// The messages that the watch looks at, in the order of their issue.
  std::vector<const Message *> watched() const;

  /// A stream with priority over computation, because other ranks wait for its messages.
  struct Stream {
    Stream();
    ~Stream() { cudaStreamDestroy(handle); }
    cudaStream_t handle = nullptr;
  };

  CudaExecutable &executable;
  const std::shared_ptr<NcclLinks> links;
  const Stream stream;
  const bool hasBuckets; ///< whether buckets of the executable travel on this channel
  NcclCommunicator communicator_;
  NcclCollectives collectives;
  DeviceMemory scratch;
  Loss loss;
  /// A bucket's messages by the turn of the step that issues them. A step may wait for the message
  /// of the step before and issue the bucket again, while times of the first are still to be read.
  /// Second halves are messages of their own.
  std::map<std::pair<int, bool>, std::array<Message, 2>> messages;
  /// The start of the present step; null where buckets travel.
  std::shared_ptr<const Event> began;
  StepMessages now, stepBefore; ///< `stepBefore` may run while the present step begins
  std::array<std::array<StepMessages, core::stepParts>, 2> captured; ///< by turn and part
  std::int64_t step = 0;
  std::int64_t issuedMessages = 0; ///< in this step, without the loss
  bool isNoting = false;           ///< whether a capture has begun to note this step's messages
  bool isReplayed = false;         ///< whether the step's messages are those of a captured step
  bool wasReplayed = false;        ///< the same of stepBefore
};

} // namespace syncline::cuda
