// One channel's queue and thread.
#include "runtime/transport/CommunicationThread.h"

#include <algorithm>

namespace syncline {

Result<std::unique_ptr<CommunicationThread>> CommunicationThread::create(Transport &transport,
                                                                         int channel) {
  auto ring = RingAllReduce::create(transport, "ring" + std::to_string(channel));
  if (!ring)
    return ring.status();
  return std::unique_ptr<CommunicationThread>(
      new CommunicationThread(transport.rank(), std::move(*ring)));
}

CommunicationThread::CommunicationThread(int rank, std::unique_ptr<RingAllReduce> ring)
    : rank(rank), allReduce(std::move(ring)), thread([this] { work(); }) {}

CommunicationThread::~CommunicationThread() {
  {
    std::lock_guard lock(mutex);
    stop = true;
  }
  issued.notify_all();
  thread.join();
}

void CommunicationThread::startStep(std::int64_t number) {
  std::lock_guard lock(mutex);
  step = number;
  exposed = 0;
  stepStart = Clock::now();
  jobs.clear();
  next = 0;
}

void CommunicationThread::issue(int bucket, void *data, std::size_t bytes, ElementType type) {
  {
    std::lock_guard lock(mutex);
    Job job{{bucket}, data, bytes, type};
    job.timing.issued = secondsSince(stepStart);
    jobs.push_back(job);
  }
  issued.notify_one();
}

Status CommunicationThread::wait(int bucket) {
  std::unique_lock lock(mutex);
  auto job = std::find_if(jobs.begin(), jobs.end(),
                          [&](const Job &j) { return j.timing.bucket == bucket; });
  if (job == jobs.end())
    return Status::error(ErrorKind::internal,
                         "bucket " + std::to_string(bucket) + " is waited for but was not issued");
  if (!job->done && failure) {
    auto start = Clock::now();
    finished.wait(lock, [&] { return job->done || !failure; });
    exposed += secondsSince(start);
  }
  return failure;
}

std::vector<BucketTiming> CommunicationThread::timings() const {
  std::lock_guard lock(mutex);
  std::vector<BucketTiming> list;
  for (const Job &j : jobs)
    list.push_back(j.timing);
  return list;
}

void CommunicationThread::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    issued.wait(lock, [&] { return stop || (next < jobs.size() && failure); });
    if (stop)
      return;
    Job &job = jobs[next]; // a deque: pushing behind it does not move it
    job.timing.started = secondsSince(stepStart);
    lock.unlock();
    Status s = carryOut(job);
    lock.lock();
    job.timing.finished = secondsSince(stepStart);
    job.done = true;
    ++next;
    if (!s)
      failure = s;
    finished.notify_all();
  }
}

Status CommunicationThread::carryOut(const Job &job) {
  Status s = allReduce->run(job.data, job.bytes, job.type);
  if (s || s.kind() != ErrorKind::peerLost)
    return s;
  std::string last =
      step == 0 ? "no step completed" : "last completed step " + std::to_string(step - 1);
  return Status::error(ErrorKind::peerLost, "rank " + std::to_string(rank) + ": " + s.message() +
                                                " in the all-reduce of bucket " +
                                                std::to_string(job.timing.bucket) + " in step " +
                                                std::to_string(step) + "; " + last);
}

} // namespace syncline
