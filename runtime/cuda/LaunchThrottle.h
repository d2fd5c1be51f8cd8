// Limits how far the host runs ahead of the device. CUDA queues about a thousand launches; a
// further launch blocks the host, where it could not notice that the device waits for a lost rank.
#pragma once

#include "runtime/cuda/Event.h"
#include "runtime/cuda/HostWait.h"

#include <array>
#include <cstdint>

namespace syncline::cuda {

class LaunchThrottle {
public:
  /// Called after each operation enqueued on `stream`. Waits while the host is more than two
  /// stretches ahead of the device. Errors: the device's, or a watch's.
  Status follow(const HostWait &waits, cudaStream_t stream) {
    if (++told % stretch != 0)
      return Status::ok();
    const Event &earlier = ends[static_cast<std::size_t>(told / stretch % 2)];
    SYNCLINE_TRY(waits.until([&] { return earlier.isReached(); }));
    return statusOf("", [&] { earlier.record(stream); });
  }

private:
  static constexpr int stretch = 64; ///< number of operations, of a few launches each
  std::int64_t told = 0;
  std::array<Event, 2> ends{Event(EventUse::order), Event(EventUse::order)};
};

} // namespace syncline::cuda
