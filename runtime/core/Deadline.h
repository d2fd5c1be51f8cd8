// Deadlines: points in time by which a wait must end. Every wait of the runtime has one.
#pragma once

#include <algorithm>
#include <chrono>

namespace syncline::core {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

inline Deadline deadlineIn(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e8)));
}

/// The time left until the deadline, at least 0, in whole milliseconds rounded up.
inline std::chrono::milliseconds remaining(Deadline deadline) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

inline double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace syncline::core
