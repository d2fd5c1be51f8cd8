// Reporting on stderr what is being measured and how long the calibration will take.
#pragma once

#include "runtime/launch/ProgressLine.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace syncline::calibrate {

class Progress {
public:
  /// Prints nothing unless `isShown`. `seconds` is the time of the whole calibration.
  Progress(bool isShown, double seconds) : line(isShown), seconds(seconds) {}

  /// Reports what is measured next, `now` seconds after the start.
  void tell(const std::string &next, double now) {
    what = next;
    const long left = std::lround(std::max(0.0, seconds - now));
    line.show("calibrating: " + what + ", " + std::to_string(left) + " s left");
  }
  const std::string &current() const { return what; }

private:
  launch::ProgressLine line;
  const double seconds;
  std::string what;
};

} // namespace syncline::calibrate
