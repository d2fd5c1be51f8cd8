// Formatting the progress line.
#include "runtime/calibrate/Progress.h"

#include <algorithm>
#include <cmath>

namespace syncline::calibrate {

void Progress::tell(const std::string &next, double now) {
  what = next;
  const long left = std::lround(std::max(0.0, seconds - now));
  line.show("calibrating: " + what + ", " + std::to_string(left) + " s left");
}

} // namespace syncline::calibrate
