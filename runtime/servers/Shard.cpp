// Waiting for clocks, and the arithmetic on a shard's values.
#include "runtime/servers/Shard.h"

#include "runtime/servers/Protocol.h"

#include <algorithm>
#include <atomic>

namespace syncline::servers {

std::optional<double> Monitor::wait(std::unique_lock<std::mutex> &held,
                                    const std::function<bool()> &isMet,
                                    const std::function<bool()> &meanwhile) {
  if (isMet())
    return 0;
  const auto begin = core::Clock::now();
  while (!condition.wait_for(held, interval, isMet)) {
    held.unlock();
    const bool goesOn = meanwhile();
    held.lock();
    if (!goesOn)
      return std::nullopt;
  }
  return core::secondsSince(begin);
}

Shard::Shard(std::size_t elements, const Options &options)
    : options(options), values(elements), workers(static_cast<std::size_t>(options.workers)) {}

bool Shard::initialise(std::span<const float> first) {
  auto held = monitor.lock();
  if (isReady || first.size() != values.size())
    return false;
  std::ranges::copy(first, values.begin());
  isReady = true;
  monitor.changed();
  return true;
}

/// The worker that others wait for: the first one with the least clock. Where all have left, the
/// clock is allHaveLeft.
Awaited Shard::slowest() const {
  Awaited found{0, allHaveLeft};
  for (std::size_t i = 0; i < workers.size(); ++i)
    if (!workers[i].hasLeft && workers[i].clock < found.clock)
      found = {static_cast<int>(i), workers[i].clock};
  return found;
}

bool Shard::waitUntilReady(std::unique_lock<std::mutex> &held, const Meanwhile &meanwhile) {
  return monitor.wait(held, [&] { return isReady; }, [&] { return meanwhile({0, 0}); }).has_value();
}

std::optional<core::Clock::time_point> Shard::push(int worker, std::int64_t clock,
                                                   std::span<const float> update,
                                                   const Meanwhile &meanwhile) {
  auto held = monitor.lock();
  if (!waitUntilReady(held, meanwhile))
    return std::nullopt;
  Awaited late;
  const auto haveRead = [&] {
    for (std::size_t i = 0; i < workers.size(); ++i)
      if (!workers[i].hasLeft && workers[i].readAt < clock - 1) {
        late = {static_cast<int>(i), workers[i].clock};
        return false;
      }
    return true;
  };
  if (options.isExact && !monitor.wait(held, haveRead, [&] { return meanwhile(late); }))
    return std::nullopt;
  const auto begun = core::Clock::now();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += update[i];
  workers[worker].clock = clock;
  monitor.changed();
  return begun;
}

/// With the lock held. Without one for updates, a worker that was declared lost may still mix.
void Shard::copyTo(std::span<float> into) {
  for (std::size_t i = 0; i < values.size(); ++i)
    into[i] = static_cast<float>(
        options.hasLock ? values[i]
                        : std::atomic_ref<double>(values[i]).load(std::memory_order_relaxed));
}

std::optional<Shard::Copied> Shard::read(int worker, std::int64_t clock, std::int64_t need,
                                         std::span<float> into, const Meanwhile &meanwhile) {
  auto held = monitor.lock();
  if (!waitUntilReady(held, meanwhile))
    return std::nullopt;
  Awaited late;
  const auto isFresh = [&] {
    late = slowest();
    return late.clock >= need;
  };
  const std::optional<double> parked = monitor.wait(held, isFresh, [&] { return meanwhile(late); });
  if (!parked)
    return std::nullopt;
  const auto begun = core::Clock::now();
  copyTo(into);
  workers[worker].readAt = clock;
  monitor.changed();
  return Copied{late.clock, *parked, begun, core::Clock::now()};
}

std::optional<Shard::Copied> Shard::elastic(int worker, std::int64_t clock,
                                            std::span<const float> own, double factor,
                                            std::span<float> into, const Meanwhile &meanwhile) {
  auto held = monitor.lock();
  if (!waitUntilReady(held, meanwhile))
    return std::nullopt;
  workers[worker].clock = clock;
  const std::int64_t least = slowest().clock;
  const auto begun = core::Clock::now();
  if (!options.hasLock) {
    held.unlock();
    mixWithoutLock(own, factor, into);
    return Copied{least, 0, begun, core::Clock::now()};
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    into[i] = static_cast<float>(values[i]);
    values[i] += factor * (own[i] - values[i]);
  }
  return Copied{least, 0, begun, core::Clock::now()};
}

/// Updates of several workers may overwrite each other, element by element.
void Shard::mixWithoutLock(std::span<const float> own, double factor, std::span<float> into) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::atomic_ref<double> value(values[i]);
    const double centre = value.load(std::memory_order_relaxed);
    value.store(centre + factor * (own[i] - centre), std::memory_order_relaxed);
    into[i] = static_cast<float>(centre);
  }
}

void Shard::leave(int worker) {
  auto held = monitor.lock();
  workers[worker].hasLeft = true;
  monitor.changed();
}

bool Shard::isDeserted() {
  auto held = monitor.lock();
  return slowest().clock == allHaveLeft;
}

} // namespace syncline::servers
