// One channel through the device's memory: NCCL's collectives on a stream of their own, which
// begins behind the computation that a message needs and which computation waits for, both by
// events.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/NcclCollectives.h"
#include "runtime/cuda/NcclLinks.h"

#include <map>

namespace syncline::cuda {

/// Schemes: "ring", "tree", "parameter-server", "reduce-scatter", "factors". The loss goes by
/// NCCL's own choice, whatever its scheme, and is the one message that the host waits for.
///
/// May be captured with the executable's step. Calls that give NCCL a message return once it is on
/// the stream, which takes longer the first time.
class NcclChannel final : public Channel, private NcclLinks::Member {
public:
  /// As Backend::openChannel(). `links` are those of the executable.
  static Result<std::unique_ptr<Channel>> open(CudaExecutable &executable,
                                               std::shared_ptr<NcclLinks> links, Peers &peers,
                                               const ChannelOptions &options);
  /// Throws Failure.
  NcclChannel(CudaExecutable &executable, std::shared_ptr<NcclLinks> links, Peers &peers,
              const ChannelOptions &options);
  ~NcclChannel() override;

  void startStep(std::int64_t step, bool replayed = false) override;
  Status issue(int bucket, void *data, std::size_t bytes, ElementType type,
               std::optional<Scheme> scheme = {}) override;
  Status issueGather(int bucket, std::vector<GatherPart> parts) override;
  Status issueSharded(int bucket, const ShardedBucket &sharded) override;
  Range shardOf(std::size_t bytes, ElementType type) const override {
    return shardOfRank(communicator_.rank(), communicator_.size(), bytes, type);
  }
  Status wait(int bucket) override;

  /// Seconds between the moments at which computation came to wait() and the message was there.
  double exposedSeconds() const override;
  /// Without the loss.
  std::vector<BucketTiming> timings() const override;

private:
  /// A bucket's way, the same events in every step.
  struct MessageEvents {
    Event computed{EventUse::order}, done{EventUse::order};
    Event issued{EventUse::time}, started{EventUse::time}, finished{EventUse::time},
        awaited{EventUse::time};
    MessageName name;
    bool isUnderWay = false;
  };
  /// The loss, and what travels with it, on its way: memory of the host that the device reads and
  /// writes, and of the device.
  struct Loss {
    static constexpr std::size_t room = 64; ///< bytes
    Loss();
    ~Loss();
    double *host = nullptr;
    DeviceMemory device{room};
    double *result = nullptr; ///< where wait() puts it
    std::size_t bytes = 0;    ///< of the last one issued
  };

  std::size_t finishedMessages(const MessageName *&underWay) const override;
  NcclCommunicator &communicator() override { return communicator_; }
  std::int64_t scratchFor(const CudaExecutable &executable, int channel) const;
  /// Runs `collective`, which enqueues on the stream, between the events's events.
  template <typename F> Status send(int bucket, std::string_view name, const F &collective);
  Status issueLoss(int bucket, void *data, std::size_t bytes, ElementType type);
  Status waitForLoss(MessageEvents &events);
  bool isFinished(const MessageEvents &events) const;

  /// Goes before computation where both want the device: others wait for what it sends.
  struct Stream {
    Stream();
    ~Stream() { cudaStreamDestroy(handle); }
    cudaStream_t handle = nullptr;
  };

  CudaExecutable &executable;
  const std::shared_ptr<NcclLinks> links;
  const Stream stream;
  NcclCommunicator communicator_;
  NcclCollectives collectives;
  DeviceMemory scratch;
  Loss loss;
  std::map<int, MessageEvents> messages; ///< by bucket
  std::vector<int> waited;               ///< of this step, or of the captured one
  std::vector<int> issued;
  std::int64_t step = 0;
};

} // namespace syncline::cuda
