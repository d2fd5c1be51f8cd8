// The queue and the thread of one channel.
#include "runtime/transport/CommunicationThread.h"

#include "runtime/core/Guarded.h"
#include "runtime/core/RankNames.h"
#include "runtime/transport/collectives/RankSubset.h"

#include <algorithm>

namespace syncline::transport {

Result<std::unique_ptr<CommunicationThread>>
CommunicationThread::create(Transport &transport, int channel, const std::vector<Scheme> &schemes,
                            const RankLayout &layout, UpdateShard updateShard,
                            core::WirePrecision wire) {
  if (std::ranges::find(schemes, Scheme::library) != schemes.end())
    return Status::badInput("channel " + std::to_string(channel) +
                            ": scheme 'library' is the algorithm that NCCL chooses, which only "
                            "plans for '--backend cuda' can use");
  std::unique_ptr<RoundingTransport> rounding;
  if (wire != core::WirePrecision::fp32)
    rounding = std::make_unique<RoundingTransport>(transport, wire);
  Transport &carrier = rounding ? *rounding : transport;
  AllReduces allReduces;
  AllReduce *first = nullptr;
  std::unique_ptr<Ring> ring;
  for (Scheme scheme : schemes) {
    if (!isSum(scheme)) {
      if (ring)
        continue;
      RankSubset workers = firstRanks(carrier, transport.size() - layout.servers);
      SYNCLINE_TRY_GET(made, Ring::create(workers, linkName(channel) + "/blocks"));
      ring = std::move(*made);
      continue;
    }
    SYNCLINE_TRY_GET(made, createAllReduce(scheme, carrier, linkName(channel), layout));
    first = first ? first : made->get();
    allReduces[scheme] = std::move(*made);
  }
  return std::unique_ptr<CommunicationThread>(
      new CommunicationThread(transport.rank(), std::move(rounding), std::move(allReduces), first,
                              std::move(ring), std::move(updateShard)));
}

CommunicationThread::CommunicationThread(int rank, std::unique_ptr<RoundingTransport> rounding,
                                         AllReduces allReduces, AllReduce *first,
                                         std::unique_ptr<Ring> ring, UpdateShard updateShard)
    : rank(rank), rounding(std::move(rounding)), allReduces(std::move(allReduces)), first(first),
      ring(std::move(ring)), updateShard(std::move(updateShard)), thread([this] { work(); }) {}

CommunicationThread::~CommunicationThread() {
  {
    std::lock_guard lock(mutex);
    stop = true;
  }
  issued.notify_all();
  thread.join();
}

void CommunicationThread::startStep(std::int64_t number, bool) {
  step = number;
  exposed = 0;
  stepStart = core::Clock::now();
  waited.clear();
}

Status CommunicationThread::issue(int bucket, void *data, std::size_t bytes, ElementType type,
                                  std::optional<Scheme> scheme) {
  AllReduce *by = first;
  if (scheme) {
    auto found = allReduces.find(*scheme);
    by = found == allReduces.end() ? nullptr : found->second.get();
  }
  enqueue(bucket, "all-reduce",
          by ? [=, this] {
            return sum(bucket, data, bytes, type, [=] { return by->run(data, bytes, type); });
          } : std::function<Status()>());
  return Status::ok();
}

Status CommunicationThread::issueHalf(int bucket, void *data, std::size_t bytes, ElementType type,
                                      Scheme scheme, core::Half half) {
  std::function<Status()> job;
  if (const auto found = allReduces.find(scheme); found != allReduces.end())
    job = [=, this, by = found->second.get()] {
      const auto travel = [=] { return by->runHalf(data, bytes, type, half); };
      // What the first half leaves need not be rounded: the second one rounds it as it sends it.
      return half == core::Half::first
                 ? travelRounded(bucket >= 0 && type == ElementType::f32, travel).status()
                 : sum(bucket, data, bytes, type, travel);
    };
  enqueue(bucket, core::halfName(scheme, half), std::move(job), half);
  return Status::ok();
}

Status CommunicationThread::issueGather(int bucket, std::vector<core::GatherPart> parts) {
  std::function<Status()> job;
  if (ring)
    job = [this, parts = std::move(parts)] { return gather(parts); };
  enqueue(bucket, "all-gather", std::move(job));
  return Status::ok();
}

Status CommunicationThread::issueSharded(int bucket, const core::ShardedBucket &sharded) {
  std::function<Status()> job;
  if (ring)
    job = [this, bucket, b = sharded] {
      Status s;
      if (b.half != core::Half::second) {
        // This rank's block stays as it was summed, since no other rank holds it.
        s = travelRounded(b.type == ElementType::f32, [&] {
              return ring->reduceScatter(b.gradients, b.bytes, b.type);
            }).status();
        if (s && !b.updatesLater)
          s = update(bucket);
        if (s && b.wholeGradients)
          s = ring->allGather(b.gradients, b.bytes, b.type);
      }
      return s && b.half != core::Half::first ? ring->allGather(b.parameters, b.bytes, b.type) : s;
    };
  const bool isSecond = sharded.half == core::Half::second;
  enqueue(bucket, isSecond ? "all-gather" : "reduce-scatter", std::move(job), sharded.half);
  return Status::ok();
}

/// Updates this rank's part. What the update sums travels as it is, whatever the wire.
Status CommunicationThread::update(int bucket) {
  return updateShard(bucket, [this](std::span<double> numbers) {
    return ring->allReduce(numbers.data(), numbers.size_bytes(), ElementType::f64);
  });
}

Result<bool> CommunicationThread::travelRounded(bool rounds,
                                                const std::function<Status()> &travel) {
  rounds = rounds && rounding;
  if (rounds)
    rounding->begin();
  const Status s = travel();
  if (rounds)
    rounding->end();
  if (!s)
    return s;
  return rounds;
}

Status CommunicationThread::sum(int bucket, void *data, std::size_t bytes, ElementType type,
                                const std::function<Status()> &travel) {
  const Result<bool> rounded = travelRounded(bucket >= 0 && type == ElementType::f32, travel);
  if (rounded && *rounded)
    rounding->round(data, bytes);
  return rounded.status();
}

Status CommunicationThread::gather(const std::vector<core::GatherPart> &parts) {
  const bool areFloats = std::ranges::all_of(
      parts, [](const core::GatherPart &part) { return part.type == ElementType::f32; });
  const Result<bool> rounded = travelRounded(areFloats, [&] { return ring->allGather(parts); });
  if (rounded && *rounded)
    for (const core::GatherPart &part : parts)
      rounding->round(part.data, static_cast<std::size_t>(part.bytes) * ring->size());
  return rounded.status();
}

void CommunicationThread::enqueue(int bucket, std::string_view what,
                                  std::function<Status()> carryOut, core::Half half) {
  auto job = std::make_shared<Job>(Job{
      {.bucket = bucket, .step = step, .half = half}, what, std::move(carryOut), step, stepStart});
  job->timing.issued = core::secondsSince(stepStart);
  if (!done)
    underWay.push_back(job);
  {
    std::lock_guard lock(mutex);
    queue.push_back(std::move(job));
  }
  issued.notify_one();
}

Status CommunicationThread::wait(int bucket) {
  const auto isOfBucket = [&](const auto &job) { return job->timing.bucket == bucket; };
  auto found = std::ranges::find_if(underWay, isOfBucket);
  if (found == underWay.end())
    return Status::error(ErrorKind::internal,
                         "bucket " + std::to_string(bucket) + " is waited for but was not issued");
  Status s = Status::ok();
  for (; s && found != underWay.end(); found = std::ranges::find_if(underWay, isOfBucket)) {
    const std::shared_ptr<Job> job = *found;
    underWay.erase(found);
    s = wait(*job);
  }
  return s;
}

Status CommunicationThread::wait(const Job &awaited) {
  const Job *job = &awaited;
  std::unique_lock lock(mutex);
  if (!job->done) {
    auto start = core::Clock::now();
    finished.wait(lock, [&] { return job->done; });
    exposed += core::secondsSince(start);
  }
  waited.push_back(job->timing);
  return failure;
}

void CommunicationThread::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    issued.wait(lock, [&] { return stop || !queue.empty(); });
    if (stop)
      return;
    const std::shared_ptr<Job> held = queue.front();
    Job &job = *held;
    bool broken = !failure;
    lock.unlock();
    double started = core::secondsSince(job.stepStart);
    Status s = broken ? Status::ok() : core::guarded([&] { return carryOut(job); });
    double ended = core::secondsSince(job.stepStart);
    lock.lock();
    job.timing.started = started;
    job.timing.finished = ended;
    job.done = true;
    queue.pop_front();
    if (!s)
      failure = s;
    finished.notify_all();
    if (!done)
      continue;
    const Status outcome = failure;
    lock.unlock();
    done(job.timing, outcome);
    lock.lock();
  }
}

Status CommunicationThread::carryOut(const Job &job) {
  if (!job.carryOut)
    return Status::error(ErrorKind::internal, "bucket " + std::to_string(job.timing.bucket) +
                                                  " has a scheme that its channel does not offer");
  if (begun)
    begun();
  Status s = job.carryOut();
  if (s || s.kind() != ErrorKind::peerLost)
    return s;
  return Status::error(ErrorKind::peerLost, "rank " + std::to_string(rank) + ": " + s.message() +
                                                " in the " + std::string(job.what) + " of " +
                                                core::messageName(job.timing.bucket) + " in step " +
                                                std::to_string(job.step) + "; " +
                                                core::lastCompletedStep(job.step));
}

} // namespace syncline::transport
