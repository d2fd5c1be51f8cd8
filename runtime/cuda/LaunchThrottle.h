// How far the host runs ahead of the device. CUDA holds about a thousand launches that have not
// begun; one more stops the host in the launch, where it asks nobody whether what the device waits
// for will ever come.
#pragma once

#include "runtime/cuda/Event.h"
#include "runtime/cuda/HostWait.h"

#include <array>

namespace syncline::cuda {

class LaunchThrottle {
public:
  /// After each operation that `stream` is told: while that is more than two stretches ahead of
  /// what it has done, waits. Errors: the device's, or a watch's.
  Status follow(const HostWait &waits, cudaStream_t stream) {
    if (++told % stretch != 0)
      return Status::ok();
    const Event &earlier = ends[static_cast<std::size_t>(told / stretch % 2)];
    if (Status s = waits.until([&] { return earlier.isReached(); }); !s)
      return s;
    return statusOf("", [&] { earlier.record(stream); });
  }

private:
  static constexpr int stretch = 64; ///< operations, of a few launches each
  std::int64_t told = 0;
  std::array<Event, 2> ends{Event(EventUse::order), Event(EventUse::order)};
};

} // namespace syncline::cuda
