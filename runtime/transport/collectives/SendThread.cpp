// The sending half of a collective.
#include "runtime/transport/collectives/SendThread.h"

#include "runtime/core/Guarded.h"

namespace syncline::transport {

SendThread::SendThread() : thread([this] { work(); }) {}

SendThread::~SendThread() {
  {
    std::lock_guard lock(mutex);
    stop = true;
  }
  queued.notify_all();
  thread.join();
}

void SendThread::push(Link &link, const void *data, std::size_t bytes) {
  bool idle;
  ++pushedCount;
  {
    std::lock_guard lock(mutex);
    idle = queue.empty();
    queue.push_back({&link, data, bytes});
  }
  if (idle)
    queued.notify_one();
}

Status SendThread::waitFor(std::uint64_t count) {
  std::unique_lock lock(mutex);
  awaited = count;
  sent.wait(lock, [&] { return sentCount >= count; });
  awaited = ~std::uint64_t{0};
  return failure;
}

void SendThread::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    queued.wait(lock, [&] { return stop || !queue.empty(); });
    if (stop)
      return;
    Message next = queue.front();
    bool broken = !failure;
    lock.unlock();
    Status s = broken ? Status::ok()
                      : core::guarded([&] { return next.link->send(next.data, next.bytes); });
    lock.lock();
    if (!s)
      failure = s;
    queue.pop_front();
    if (++sentCount == awaited)
      sent.notify_one();
  }
}

} // namespace syncline::transport
