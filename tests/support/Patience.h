// Waits of tests. A busy machine makes them longer and never makes a test fail.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace syncline::test {

/// Seconds after which a test gives up. Only a fault takes that long, on a busy machine too.
constexpr double patience = 150;

/// Waits until `condition()` holds. Returns false when the patience has ended before.
template <typename Condition> bool eventually(Condition condition) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
  for (auto pause = 500us; !condition(); pause = std::min(2 * pause, 10'000us)) {
    if (std::chrono::steady_clock::now() > end)
      return condition();
    std::this_thread::sleep_for(pause);
  }
  return true;
}

/// For tests of times. Whether `isTrue(scale)`, which multiplies its times by the scale, holds at
/// one of several. What other programs take from the machine counts less at a larger one; a fault
/// shows at each.
template <typename Times> bool atSomeScale(Times isTrue) {
  return isTrue(1) || isTrue(8) || isTrue(64);
}

} // namespace syncline::test
