// Enqueuing messages between events.
#include "runtime/cuda/nccl/NcclChannel.h"
#include "runtime/cuda/nccl/NcclEnvironment.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace syncline::cuda {

namespace {

Status checkSchemes(const core::ChannelOptions &options) {
  for (Scheme scheme : options.schemes)
    if (!isCarried(scheme, /*byNccl=*/true))
      return Status::badInput("channel " + std::to_string(options.channel) +
                              ": NCCL does not know scheme '" + std::string(schemeName(scheme)) +
                              "'; expected " + listOf(carriedSchemes(/*byNccl=*/true)));
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
  SYNCLINE_TRY(checkSchemes(options));
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
      hasBuckets(std::ranges::any_of(
          given.buckets(),
          [&](const core::Bucket &bucket) { return bucket.channel == options.channel; })),
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
  if (communicator_.rank() == 0)
    warnOfTuner();
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
    else if (!isGathered(bucket.scheme))
      most = std::max(most, collectives.sumScratch(bytes));
    for (const core::OperationInfo &operation : of.operations())
      if (operation.kind == core::OperationKind::gather && operation.bucket == bucket.id)
        most = std::max(most, collectives.gatherScratch(operation.gathered));
  }
  return most;
}

NcclChannel::Stream::Stream() {
  int least = 0, greatest = 0;
  SYNCLINE_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  SYNCLINE_CHECK(cudaStreamCreateWithPriority(&handle, cudaStreamNonBlocking, greatest));
}

NcclChannel::Loss::Loss() {
  void *memory = nullptr;
  SYNCLINE_CHECK(cudaMallocHost(&memory, room));
  host = static_cast<double *>(memory);
}

NcclChannel::Loss::~Loss() { cudaFreeHost(host); }

void NcclChannel::startStep(std::int64_t number, bool replayed) {
  if (issuedMessages > 0 && communicator_.rank() == 0)
    warnOfTuner();
  links->rest();
  links->startStep(number);
  if (number != step) { // else the step's capture has begun it too
    stepBefore = std::move(now);
    wasReplayed = isReplayed;
  }
  step = number;
  isReplayed = replayed;
  isNoting = false;
  issuedMessages = 0;
  if (replayed)
    return startReplay();
  noteStart();
  now = {};
  for (auto &[bucket, both] : messages)
    for (Message &message : both)
      if (message.isUnderWay)
        now.before.push_back(&message);
  std::ranges::sort(now.before, {}, [](const Message *message) {
    return std::pair(message->name.step, message->place);
  });
}

/// A fragment under way keeps the event of its own step.
void NcclChannel::noteStart() {
  if (hasBuckets)
    return;
  const Status s = statusOf("", [&] {
    executable.device().makeCurrent();
    if (!began || began.use_count() > 1)
      began = std::make_shared<const Event>(EventUse::time);
    began->record(executable.device().compute);
  });
  if (!s)
    (void)links->fail(s, nullptr);
}

void NcclChannel::startPart(bool replayed) {
  isReplayed = replayed;
  isNoting = false;
  if (replayed)
    replay(ofCapture());
}

void NcclChannel::replay(const StepMessages &noted) {
  for (Message *message : noted.issued) {
    message->name.step = step;
    message->isUnderWay = true;
    now.issued.push_back(message);
  }
  for (Message *message : noted.waited) {
    message->isUnderWay = false;
    now.waited.push_back(message);
  }
}

void NcclChannel::startReplay() {
  now = {ofCapture().before, {}, {}};
  replay(ofCapture());
  // Messages that are captured with the computation are not on this stream, so they would not wait
  // for the loss of the step before.
  const Message &earlier = loss.message;
  if (earlier.isUnderWay && !executable.carries())
    if (const Status s = statusOf("", [&] { earlier.done.holdUp(executable.device().compute); });
        !s)
      (void)links->fail(s, &earlier.name);
}

NcclChannel::Message *NcclChannel::underWay(int bucket, bool isSecond) {
  if (bucket == core::lossMessage)
    return loss.message.isUnderWay ? &loss.message : nullptr;
  std::array<Message, 2> &both = messages[{bucket, isSecond}];
  const auto found = std::ranges::find_if(both, &Message::isUnderWay);
  return found == both.end() ? nullptr : &*found;
}

NcclChannel::StepMessages &NcclChannel::present() {
  if (!executable.isCapturing())
    return now;
  StepMessages &noted = ofCapture();
  if (!std::exchange(isNoting, true))
    noted = {now.before, {}, {}};
  return noted;
}

void NcclChannel::record(const Event &event, cudaStream_t on) const {
  if (executable.carries())
    event.recordEach(on);
  else
    event.record(on);
}

void NcclChannel::holdUp(cudaStream_t which, const Event &event) const {
  if (executable.carries())
    event.holdUpEach(which);
  else
    event.holdUp(which);
}

template <typename F>
Status NcclChannel::send(int bucket, std::string_view name, const F &collective, core::Half half) {
  const bool isSecond = half == core::Half::second;
  if (!links->failure())
    return links->failure();
  links->rest();
  const MessageName described{bucket, name, step};
  const Status s = statusOf("", [&] {
    executable.device().makeCurrent();
    if (underWay(bucket, isSecond))
      throw Failure{ErrorKind::internal, "it is issued again before it was waited for"};
    if (isApart())
      executable.captureApart(stream.handle);
    Message &message = bucket == core::lossMessage
                           ? loss.message
                           : messages[{bucket, isSecond}][executable.stepTurn()];
    message.name = described;
    message.half = half;
    message.place = issuedMessages++;
    message.keptStart = bucket < core::lossMessage ? began : nullptr;
    message.stepStart = message.keptStart ? message.keptStart.get() : &executable.stepStart();
    const cudaStream_t compute = executable.device().compute;
    message.issued.recordEach(compute);
    record(message.computed, compute);
    holdUp(stream.handle, message.computed);
    message.started.recordEach(stream.handle);
    collective();
    message.finished.recordEach(stream.handle);
    record(message.done, stream.handle);
    message.isUnderWay = true;
    if (bucket != core::lossMessage)
      present().issued.push_back(&message);
  });
  return s ? s : links->fail(s, &described);
}

Status NcclChannel::issue(int bucket, void *data, std::size_t bytes, ElementType type,
                          std::optional<Scheme> scheme) {
  if (bucket == core::lossMessage)
    return issueLoss(bucket, data, bytes, type);
  return send(bucket, "all-reduce", [&] {
    if (scheme == Scheme::parameterServer)
      collectives.sumByServers(data, bytes, type);
    else
      collectives.allReduce(data, bytes, type);
  });
}

Status NcclChannel::issueHalf(int message, void *data, std::size_t bytes, ElementType type,
                              Scheme scheme, core::Half half) {
  const auto carry = [&] { collectives.sumHalf(scheme, half, data, bytes, type); };
  return send(message, core::halfName(scheme, half), carry, half);
}

Status NcclChannel::issueLoss(int bucket, void *data, std::size_t bytes, ElementType type) {
  return send(bucket, "all-reduce", [&] {
    if (bytes > Loss::room || bytes % sizeof(double) != 0 || type != ElementType::f64)
      throw Failure{ErrorKind::internal, "expected a few elements of f64"};
    loss.result = static_cast<double *>(data);
    loss.bytes = bytes;
    std::memcpy(loss.host, data, bytes);
    SYNCLINE_CHECK(cudaMemcpyAsync(loss.device.data(), loss.host, bytes, cudaMemcpyHostToDevice,
                                   stream.handle));
    collectives.allReduce(loss.device.data(), bytes, type);
    SYNCLINE_CHECK(cudaMemcpyAsync(loss.host, loss.device.data(), bytes, cudaMemcpyDeviceToHost,
                                   stream.handle));
  });
}

Status NcclChannel::issueGather(int bucket, std::vector<core::GatherPart> parts) {
  return send(bucket, "all-gather", [&] { collectives.gather(parts); });
}

Status NcclChannel::issueSharded(int bucket, const core::ShardedBucket &sharded) {
  const bool isSecond = sharded.half == core::Half::second;
  const auto sumAndUpdate = [&] {
    collectives.scatterSum(sharded.gradients, sharded.bytes, sharded.type);
    const auto sum = [&](std::span<double> numbers) {
      collectives.allReduce(numbers.data(), numbers.size_bytes(), ElementType::f64);
      return Status::ok();
    };
    if (!sharded.updatesLater)
      check(executable.enqueueShardUpdate(bucket, stream.handle, sum));
    if (sharded.wholeGradients)
      collectives.gatherShards(sharded.gradients, sharded.bytes, sharded.type);
  };
  const auto carry = [&] {
    if (!isSecond)
      sumAndUpdate();
    if (sharded.half != core::Half::first)
      collectives.gatherShards(sharded.parameters, sharded.bytes, sharded.type);
  };
  return send(bucket, isSecond ? "all-gather" : "reduce-scatter", carry, sharded.half);
}

Status NcclChannel::wait(int bucket) {
  if (!links->failure())
    return links->failure();
  links->rest();
  Message *const first = underWay(bucket);
  Message *const second = bucket == core::lossMessage ? nullptr : underWay(bucket, true);
  if (!first && !second)
    return Status::error(ErrorKind::internal,
                         core::messageName(bucket) + " is waited for but was not issued");
  if (bucket == core::lossMessage)
    return waitForLoss();
  const Status s = statusOf("", [&] {
    executable.device().makeCurrent();
    for (Message *half : {first, second})
      if (half)
        await(*half);
  });
  return s ? s : links->fail(s, &(first ? first : second)->name);
}

void NcclChannel::await(Message &message) {
  // The graph of the computation is launched before the message's graph, so it cannot wait for what
  // that one records.
  if (isApart() && message.name.step == step)
    throw Failure{ErrorKind::badInput, "a step whose messages outlive it can be captured only if "
                                       "it waits for no message of its own"};
  const cudaStream_t compute = executable.device().compute;
  message.awaited.recordEach(compute);
  holdUp(compute, message.done);
  message.isUnderWay = false;
  present().waited.push_back(&message);
}

Status NcclChannel::waitForLoss() {
  Message &message = loss.message;
  const Status s = executable.waitFor(message.done);
  if (!s)
    return links->fail(s, &message.name);
  links->rest();
  message.isUnderWay = false;
  std::memcpy(loss.result, loss.host, loss.bytes);
  return Status::ok();
}

} // namespace syncline::cuda
