// What a server did for its workers, and when, for a trace.
#pragma once

#include "runtime/core/Deadline.h"

#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

namespace syncline::servers {

/// Times are by the server's own clock.
struct Service {
  enum class Kind {
    receive, ///< the values of an update, from its request to its last value
    add,     ///< adding an update, with the lock held where there is one
    park,    ///< a read waits for clocks
    send,    ///< copying values, and sending them
    grant    ///< from a tick to its answer
  } kind = Kind::receive;
  int worker = 0;
  std::int64_t clock = 0; ///< number of complete steps that the request states
  core::Clock::time_point begin, end;
};

/// Thread-safe. Records nothing before start().
class ServiceLog {
public:
  /// From now on services whose clock is at least `clock` are recorded.
  void start(std::int64_t clock) {
    std::lock_guard lock(mutex);
    first = clock;
  }
  void add(const Service &service) {
    std::lock_guard lock(mutex);
    if (service.clock >= first)
      all.push_back(service);
  }
  /// The services that have ended since the last call.
  std::vector<Service> take() {
    std::lock_guard lock(mutex);
    return std::exchange(all, {});
  }

private:
  std::mutex mutex;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::vector<Service> all;
};

} // namespace syncline::servers
