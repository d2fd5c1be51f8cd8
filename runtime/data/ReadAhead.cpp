// The threads that read ahead, and the batches that wait.
#include "runtime/data/ReadAhead.h"

#include "runtime/core/Guarded.h"

#include <exception>
#include <utility>

namespace syncline::data {

ReadAhead::ReadAhead(Read read, int threads, std::int64_t end)
    : read(std::move(read)), threadCount(threads), end(end) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex);
    isEnding = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void ReadAhead::seek(std::int64_t step) {
  {
    const std::lock_guard lock(mutex);
    wanted = next = step;
    ++generation;
    for (auto &[number, entry] : ready)
      spare.push_back(std::move(entry.batch));
    ready.clear();
  }
  changed.notify_all();
  while (static_cast<int>(threads.size()) < threadCount)
    threads.emplace_back([this] { workGuarded(); });
}

Status ReadAhead::take(std::int64_t step, HostBatch &batch) {
  if (step >= end)
    return Status::error(ErrorKind::internal, "no samples for step " + std::to_string(step));
  bool isElsewhere = threads.empty();
  {
    const std::lock_guard lock(mutex);
    isElsewhere = isElsewhere || step != wanted;
  }
  if (isElsewhere)
    seek(step);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ready.contains(step) || !failure; });
  if (!ready.contains(step))
    return failure;
  auto taken = ready.extract(step);
  Entry &entry = taken.mapped();
  std::swap(batch, entry.batch);
  spare.push_back(std::move(entry.batch));
  wanted = step + 1;
  lock.unlock();
  changed.notify_all();
  return entry.status;
}

/// No exception leaves a thread, since the run would end without a message.
Status ReadAhead::readStep(std::int64_t step, HostBatch &batch) const {
  try {
    return read(step, batch);
  } catch (const std::bad_alloc &) {
    return Status::badInput("out of memory for the samples of step " + std::to_string(step));
  } catch (const std::exception &e) {
    return Status::error(ErrorKind::internal,
                         "reading the samples of step " + std::to_string(step) + ": " + e.what());
  }
}

void ReadAhead::workGuarded() {
  const Status s = core::guarded([this] { return work(), Status::ok(); });
  if (s)
    return;
  {
    const std::lock_guard lock(mutex);
    failure = s;
  }
  changed.notify_all();
}

void ReadAhead::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return isEnding || (next < end && next <= wanted + threadCount); });
    if (isEnding)
      return;
    const std::int64_t step = next++, own = generation;
    Entry entry;
    if (!spare.empty()) {
      entry.batch = std::move(spare.back());
      spare.pop_back();
    }
    lock.unlock();
    entry.status = readStep(step, entry.batch);
    lock.lock();
    if (own != generation) {
      spare.push_back(std::move(entry.batch));
      continue;
    }
    ready.emplace(step, std::move(entry));
    changed.notify_all();
  }
}

} // namespace syncline::data
