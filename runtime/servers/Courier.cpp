// The thread's loop.
#include "runtime/servers/Courier.h"

#include "runtime/core/Guarded.h"

namespace syncline::servers {

Courier::~Courier() {
  {
    std::lock_guard lock(mutex);
    stops = true;
  }
  changed.notify_all();
  thread.join();
}

std::uint64_t Courier::add(Job job) {
  std::lock_guard lock(mutex);
  queue.push_back(std::move(job));
  changed.notify_all();
  return ++added;
}

bool Courier::isDone(std::uint64_t number) {
  std::lock_guard lock(mutex);
  return done >= number || !failure;
}

Status Courier::wait(std::uint64_t number) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done >= number || !failure; });
  return failure;
}

void Courier::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stops || (!queue.empty() && failure); });
    if (stops)
      return;
    const Job job = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    Status s = core::guarded(job);
    lock.lock();
    if (s)
      ++done;
    else
      failure = std::move(s);
    changed.notify_all();
  }
}

} // namespace syncline::servers
