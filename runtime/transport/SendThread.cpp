// The sending half of a ring.
#include "runtime/transport/SendThread.h"

namespace syncline {

SendThread::SendThread(Link &link) : link(link), thread([this] { work(); }) {}

SendThread::~SendThread() {
  {
    std::lock_guard lock(mutex);
    stop = true;
  }
  pushed.notify_all();
  thread.join();
}

void SendThread::push(const void *data, std::size_t bytes) {
  bool idle;
  {
    std::lock_guard lock(mutex);
    idle = queue.empty();
    queue.push_back({data, bytes});
  }
  if (idle)
    pushed.notify_one();
}

Status SendThread::flush() {
  std::unique_lock lock(mutex);
  drained.wait(lock, [&] { return queue.empty(); });
  return failure;
}

void SendThread::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    pushed.wait(lock, [&] { return stop || !queue.empty(); });
    if (stop)
      return;
    Message next = queue.front();
    bool broken = !failure;
    lock.unlock();
    Status s = broken ? Status::ok() : link.send(next.data, next.bytes);
    lock.lock();
    if (!s)
      failure = s;
    queue.pop_front();
    if (queue.empty())
      drained.notify_one();
  }
}

} // namespace syncline
