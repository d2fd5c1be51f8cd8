// Threads that do streams' work, moments, and delays.
#include "tests/host-cuda/Stream.h"

#include <cstdlib>
#include <thread>

namespace syncline::hostcuda {

void Moment::pass() {
  std::lock_guard hold(mutex);
  time = std::chrono::steady_clock::now();
  condition.notify_all();
}

void Moment::wait() const {
  std::unique_lock hold(mutex);
  condition.wait(hold, [&] { return time.has_value(); });
}

std::optional<Moment::Time> Moment::passed() const {
  std::lock_guard hold(mutex);
  return time;
}

std::shared_ptr<Queue> Queue::start(std::uint64_t number) {
  auto queue = std::make_shared<Queue>();
  std::thread([queue, number] { queue->run(number); }).detach();
  return queue;
}

void Queue::push(Work work) {
  std::lock_guard hold(mutex);
  works.push_back(std::move(work));
  ++pushed;
  arrived.notify_one();
}

void Queue::close() {
  std::lock_guard hold(mutex);
  isClosed = true;
  arrived.notify_one();
}

void Queue::awaitRoom() const {
  std::unique_lock hold(mutex);
  finished.wait(hold, [&] { return works.size() < limit; });
}

bool Queue::isIdle() const {
  std::lock_guard hold(mutex);
  return done == pushed;
}

void Queue::drain() const {
  std::unique_lock hold(mutex);
  finished.wait(hold, [&, end = pushed] { return done >= end; });
}

void Queue::run(std::uint64_t number) {
  Delays delays(number);
  std::unique_lock hold(mutex);
  while (true) {
    arrived.wait(hold, [&] { return isClosed || !works.empty(); });
    if (works.empty())
      return;
    {
      const Work work = std::move(works.front());
      works.pop_front();
      hold.unlock();
      delays.pass();
      work();
    } // what the work holds is gone before the stream counts as idle
    hold.lock();
    ++done;
    finished.notify_all();
  }
}

Delays::Delays(std::uint64_t number)
    : most(setting("SYNCLINE_HOST_CUDA_DELAY", 0)),
      state(setting("SYNCLINE_HOST_CUDA_SEED", 1) * 0x9E3779B97F4A7C15 + number) {}

/// SplitMix64.
std::uint64_t Delays::next() {
  std::uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

void Delays::pass() {
  if (most > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(next() % (most + 1)));
}

std::size_t Delays::choose(std::size_t count) {
  return most > 0 ? static_cast<std::size_t>(next() % count) : 0;
}

std::uint64_t setting(const char *name, std::uint64_t otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? std::strtoull(value, nullptr, 10) : otherwise;
}

} // namespace syncline::hostcuda
