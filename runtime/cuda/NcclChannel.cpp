// Enqueuing messages between events.
#include "runtime/cuda/NcclChannel.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace syncline::cuda {

namespace {

constexpr std::array knownSchemes{Scheme::ring, Scheme::tree, Scheme::parameterServer,
                                  Scheme::reduceScatter, Scheme::factors};

Status checkSchemes(const core::ChannelOptions &options) {
  for (Scheme scheme : options.schemes)
    if (std::find(knownSchemes.begin(), knownSchemes.end(), scheme) == knownSchemes.end())
      return Status::badInput("channel " + std::to_string(options.channel) +
                              ": NCCL does not know scheme '" + std::string(schemeName(scheme)) +
                              "'; expected ring, tree, parameter-server, reduce-scatter or "
                              "factors");
  return Status::ok();
}

/// Makes the executable's device current before members are constructed.
CudaExecutable &madeCurrent(CudaExecutable &executable) {
  executable.device().makeCurrent();
  return executable;
}

} // namespace

Result<std::unique_ptr<core::Channel>> NcclChannel::open(CudaExecutable &executable,
                                                         std::shared_ptr<NcclLinks> links,
                                                         core::Peers &peers,
                                                         const core::ChannelOptions &options) {
  if (Status s = checkSchemes(options); !s)
    return s;
  if (!links->failure())
    return links->failure();
  std::unique_ptr<core::Channel> channel;
  const Status s = statusOf(
      "", [&] { channel = std::make_unique<NcclChannel>(executable, links, peers, options); });
  if (s)
    return channel;
  const std::string what = "channel " + std::to_string(options.channel) + ": ";
  if (s.kind() != ErrorKind::peerLost)
    return Status::error(s.kind(), what + s.message());
  return Status::error(s.kind(), "rank " + std::to_string(peers.rank()) + ": " + s.message() +
                                     " as channel " + std::to_string(options.channel) +
                                     " was opened");
}

NcclChannel::NcclChannel(CudaExecutable &given, std::shared_ptr<NcclLinks> links,
                         core::Peers &peers, const core::ChannelOptions &options)
    : executable(madeCurrent(given)), links(std::move(links)),
      communicator_(peers, "nccl/" + std::to_string(options.channel)),
      collectives(communicator_, stream.handle, options.wire),
      scratch(scratchFor(executable, options.channel), MemoryUse::messages) {
  collectives.useScratch(scratch.data(), scratch.bytes());
  for (Space space : {Space::gradients, Space::parameters})
    communicator_.keep(executable.space(space));
  communicator_.keep({scratch.data(), scratch.bytes()});
  this->links->add(this);
}

NcclChannel::~NcclChannel() {
  (void)statusOf("", [&] { executable.device().makeCurrent(); });
  executable.dropCapture();
  if (!links->failure() || cudaStreamQuery(stream.handle) == cudaErrorNotReady)
    links->abandon();
  links->remove(this);
  communicator_.leave();
}

std::int64_t NcclChannel::scratchFor(const CudaExecutable &of, int channel) const {
  std::int64_t most = 0;
  for (const core::Bucket &bucket : of.buckets()) {
    if (bucket.channel != channel)
      continue;
    const auto bytes = static_cast<std::size_t>(bucket.extent);
    if (bucket.scheme == Scheme::parameterServer)
      most = std::max(most, collectives.serverScratch(bytes));
    else if (bucket.scheme != Scheme::factors)
      most = std::max(most, collectives.sumScratch(bytes));
    for (const core::OperationInfo &operation : of.operations())
      if (operation.kind == core::OperationKind::gather && operation.bucket == bucket.id)
        most = std::max(most, collectives.gatherScratch(operation.gathered));
  }
  return most;
}

NcclChannel::Stream::Stream() {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&handle, cudaStreamNonBlocking, greatest),
        "cudaStreamCreateWithPriority");
}

NcclChannel::Loss::Loss() {
  void *memory = nullptr;
  check(cudaMallocHost(&memory, room), "cudaMallocHost");
  host = static_cast<double *>(memory);
}

NcclChannel::Loss::~Loss() { cudaFreeHost(host); }

void NcclChannel::startStep(std::int64_t number, bool replayed) {
  links->rest();
  step = number;
  if (!replayed) {
    issued.clear();
    waited.clear();
  }
  for (int bucket : issued)
    messages.at(bucket).name.step = number;
  // A replayed step's messages are not on this stream, so they would not wait for the loss of the
  // step before.
  const auto earlier = messages.begin(); // the loss has a negative number
  if (replayed && earlier != messages.end() && earlier->first < 0 && earlier->second.isUnderWay)
    if (const Status s =
            statusOf("", [&] { earlier->second.done.holdUp(executable.device().compute); });
        !s)
      (void)links->fail(s, &earlier->second.name);
}

template <typename F>
Status NcclChannel::send(int bucket, std::string_view name, const F &collective) {
  if (!links->failure())
    return links->failure();
  links->rest();
  const MessageName message{bucket, name, step};
  const Status s = statusOf("", [&] {
    executable.device().makeCurrent();
    MessageEvents &events = messages[bucket];
    if (events.isUnderWay)
      throw Failure{ErrorKind::internal, "it is issued again before it was waited for"};
    events.name = message;
    const cudaStream_t compute = executable.device().compute;
    events.issued.recordTime(compute);
    events.computed.record(compute);
    events.computed.holdUp(stream.handle);
    events.started.recordTime(stream.handle);
    collective();
    events.finished.recordTime(stream.handle);
    events.done.record(stream.handle);
    events.isUnderWay = true;
    if (bucket >= 0)
      issued.push_back(bucket);
  });
  return s ? s : links->fail(s, &message);
}

Status NcclChannel::issue(int bucket, void *data, std::size_t bytes, ElementType type,
                          std::optional<Scheme> scheme) {
  if (bucket < 0)
    return issueLoss(bucket, data, bytes, type);
  return send(bucket, "all-reduce", [&] {
    if (scheme == Scheme::parameterServer)
      collectives.sumByServers(data, bytes, type);
    else
      collectives.allReduce(data, bytes, type);
  });
}

Status NcclChannel::issueLoss(int bucket, void *data, std::size_t bytes, ElementType type) {
  return send(bucket, "all-reduce", [&] {
    if (bytes > Loss::room || bytes % sizeof(double) != 0 || type != ElementType::f64)
      throw Failure{ErrorKind::internal, "expected a few elements of f64"};
    loss.result = static_cast<double *>(data);
    loss.bytes = bytes;
    std::memcpy(loss.host, data, bytes);
    check(cudaMemcpyAsync(loss.device.data(), loss.host, bytes, cudaMemcpyHostToDevice,
                          stream.handle),
          "cudaMemcpyAsync");
    collectives.allReduce(loss.device.data(), bytes, type);
    check(cudaMemcpyAsync(loss.host, loss.device.data(), bytes, cudaMemcpyDeviceToHost,
                          stream.handle),
          "cudaMemcpyAsync");
  });
}

Status NcclChannel::issueGather(int bucket, std::vector<core::GatherPart> parts) {
  return send(bucket, "all-gather", [&] { collectives.gather(parts); });
}

Status NcclChannel::issueSharded(int bucket, const core::ShardedBucket &sharded) {
  return send(bucket, "reduce-scatter", [&] {
    collectives.scatterSum(sharded.gradients, sharded.bytes, sharded.type);
    if (const Status s = executable.enqueueShardUpdate(bucket, stream.handle); !s)
      throw Failure{s.kind(), s.message()};
    if (sharded.wholeGradients)
      collectives.gatherShards(sharded.gradients, sharded.bytes, sharded.type);
    collectives.gatherShards(sharded.parameters, sharded.bytes, sharded.type);
  });
}

Status NcclChannel::wait(int bucket) {
  if (!links->failure())
    return links->failure();
  links->rest();
  const auto found = messages.find(bucket);
  if (found == messages.end() || !found->second.isUnderWay)
    return Status::error(ErrorKind::internal,
                         "bucket " + std::to_string(bucket) + " is waited for but was not issued");
  MessageEvents &events = found->second;
  if (bucket < 0)
    return waitForLoss(events);
  const Status s = statusOf("", [&] {
    executable.device().makeCurrent();
    const cudaStream_t compute = executable.device().compute;
    events.awaited.recordTime(compute);
    events.done.holdUp(compute);
    events.isUnderWay = false;
    waited.push_back(bucket);
  });
  return s ? s : links->fail(s, &events.name);
}

Status NcclChannel::waitForLoss(MessageEvents &events) {
  const Status s = executable.waitFor(events.done);
  if (!s)
    return links->fail(s, &events.name);
  links->rest();
  events.isUnderWay = false;
  std::memcpy(loss.result, loss.host, loss.bytes);
  return Status::ok();
}

/// Whether a message is finished. In a replayed step events are recorded only when they are
/// reached, so an event that lies before the step's start belongs to the step before.
bool NcclChannel::isFinished(const MessageEvents &events) const {
  if (events.name.bucket < 0)
    return events.finished.isReached();
  const Event &start = executable.stepStart();
  return start.isReached() && events.finished.isReached() &&
         secondsBetween(start, events.finished) >= 0;
}

std::size_t NcclChannel::finishedMessages(const MessageName *&underWay) const {
  std::size_t count = 0;
  const auto look = [&](const MessageEvents &events) {
    if (isFinished(events))
      ++count;
    else if (!underWay)
      underWay = &events.name;
  };
  for (const auto &[bucket, events] : messages)
    if (bucket < 0 && events.isUnderWay)
      look(events);
  for (int bucket : issued)
    look(messages.at(bucket));
  return count;
}

double NcclChannel::exposedSeconds() const {
  links->rest();
  double sum = 0;
  (void)statusOf("", [&] {
    const Event &start = executable.stepStart();
    for (int bucket : waited) {
      const MessageEvents &events = messages.at(bucket);
      sum += std::max(0.0, secondsBetween(start, events.finished) -
                               secondsBetween(start, events.awaited));
    }
  });
  return sum;
}

std::vector<core::BucketTiming> NcclChannel::timings() const {
  std::vector<core::BucketTiming> all;
  (void)statusOf("", [&] {
    const Event &start = executable.stepStart();
    for (int bucket : waited) {
      const MessageEvents &events = messages.at(bucket);
      all.push_back({bucket, secondsBetween(start, events.issued),
                     secondsBetween(start, events.started), secondsBetween(start, events.finished),
                     events.name.step});
    }
  });
  return all;
}

} // namespace syncline::cuda
