// A shard of the weights on a server, with the clocks of what it contains.
#pragma once

#include "runtime/core/Deadline.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace syncline::servers {

/// Whom a request waits for.
struct Awaited {
  int worker = 0;
  std::int64_t clock = 0;
};

/// A condition with a lock that all threads of a server share. Whoever waits is asked now and then
/// to do something meanwhile.
class Monitor {
public:
  /// The time between two calls of `meanwhile`.
  static constexpr std::chrono::milliseconds interval{1000};

  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex); }
  void changed() { condition.notify_all(); }
  /// Waits until `isMet`, with the lock held, and returns the seconds that this took: 0 where it is
  /// met already. Every interval `meanwhile` is called without the lock; where that returns false
  /// the wait ends, with nothing.
  std::optional<double> wait(std::unique_lock<std::mutex> &held, const std::function<bool()> &isMet,
                             const std::function<bool()> &meanwhile);

private:
  std::mutex mutex;
  std::condition_variable condition;
};

/// Thread-safe. Each worker has one thread that makes its calls. A call that may wait calls
/// `meanwhile` every second with whom it waits for, and returns false or nothing where that does.
class Shard {
public:
  using Meanwhile = std::function<bool(const Awaited &)>;

  struct Options {
    int workers = 1;
    /// A push waits until all workers have read at the clock before it, so that reads contain
    /// whole rounds of steps only.
    bool isExact = false;
    bool hasLock = true; ///< off: elastic updates run at the same time, as hogwild has it
  };

  /// What is known of copied values.
  struct Copied {
    std::int64_t least = 0; ///< the least clock of all workers, which the values contain
    double held = 0;        ///< seconds that the copy waited for clocks
    core::Clock::time_point begun, ended; ///< while the values were copied or mixed
  };

  Shard(std::size_t elements, const Options &options);

  /// Bytes of the values in a message.
  std::size_t bytes() const { return values.size() * sizeof(float); }
  /// Sets the first values. All other calls wait for it.
  bool initialise(std::span<const float> first);
  /// Adds an update, after which the worker's clock is `clock`. Returns when it began to add, with
  /// the lock held.
  std::optional<core::Clock::time_point>
  push(int worker, std::int64_t clock, std::span<const float> update, const Meanwhile &meanwhile);
  /// Copies the values once all clocks are at least `need`.
  std::optional<Copied> read(int worker, std::int64_t clock, std::int64_t need,
                             std::span<float> into, const Meanwhile &meanwhile);
  /// Copies the values c into `into` and adds factor·(own - c) to them. `clock` becomes the
  /// worker's clock.
  std::optional<Copied> elastic(int worker, std::int64_t clock, std::span<const float> own,
                                double factor, std::span<float> into, const Meanwhile &meanwhile);
  /// The worker pushes no more. Nobody waits for it.
  void leave(int worker);
  /// Whether all workers have left.
  bool isDeserted();

private:
  struct Worker {
    std::int64_t clock = 0;
    std::int64_t readAt = 0; ///< its clock at its last read
    bool hasLeft = false;
  };

  Awaited slowest() const;
  bool waitUntilReady(std::unique_lock<std::mutex> &held, const Meanwhile &meanwhile);
  void copyTo(std::span<float> into);
  void mixWithoutLock(std::span<const float> own, double factor, std::span<float> into);

  const Options options;
  /// In double precision, because a push of one of many workers may be less than the rounding
  /// error of f32.
  std::vector<double> values;
  bool isReady = false;
  std::vector<Worker> workers;
  Monitor monitor;
};

} // namespace syncline::servers
