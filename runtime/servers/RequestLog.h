// A worker's requests and their times, for a trace.
#pragma once

#include "runtime/core/Exchanges.h"

#include <mutex>
#include <utility>
#include <vector>

namespace syncline::servers {

/// Thread-safe. Empty until start().
class RequestLog {
public:
  void start() {
    std::lock_guard lock(mutex);
    isOn = true;
  }
  /// The entries that have ended since the last call.
  std::vector<core::ServerRequest> take() {
    std::lock_guard lock(mutex);
    return std::exchange(ended, {});
  }

  /// A request that lasts as long as the entry lives.
  class Entry {
  public:
    Entry(RequestLog &log, core::ServerRequest::Kind kind, std::int64_t clock) : log(log) {
      request.kind = kind;
      request.clock = clock;
      request.begin = core::Clock::now();
    }
    Entry(const Entry &) = delete;
    ~Entry() {
      request.end = core::Clock::now();
      log.add(request);
    }
    /// An answer has come that a server held back for so many seconds.
    void answered(double held) {
      if (held > request.held) {
        request.held = held;
        request.answered = core::Clock::now();
      }
    }

  private:
    RequestLog &log;
    core::ServerRequest request;
  };

private:
  void add(const core::ServerRequest &request) {
    std::lock_guard lock(mutex);
    if (isOn)
      ended.push_back(request);
  }

  std::mutex mutex;
  bool isOn = false;
  std::vector<core::ServerRequest> ended;
};

} // namespace syncline::servers
