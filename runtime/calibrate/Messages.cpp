// Choosing repetitions and the longest message.
#include "runtime/calibrate/Messages.h"

#include <algorithm>
#include <cmath>

namespace syncline::calibrate {

std::int64_t largestMessage(Scheme scheme, int ranks, std::int64_t largest) {
  return scheme == Scheme::factors ? largest / ranks / 4 * 4 : largest;
}

Repetitions Repetitions::of(std::int64_t bytes, double fastest, double last) {
  constexpr double half = 5e-3;
  constexpr std::int64_t burst = 2 * longestWarmUp;
  auto times = [&](double seconds) {
    return static_cast<int>(
        std::ceil(std::min(half / std::max(seconds, 1e-9), static_cast<double>(maxCount))));
  };
  return {static_cast<int>(std::clamp<std::int64_t>(burst / bytes, 1, times(fastest))),
          times(last)};
}

} // namespace syncline::calibrate
