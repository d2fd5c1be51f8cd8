// Reporting on stderr what is being measured and how long the calibration will take.
#pragma once

#include "runtime/launch/ProgressLine.h"

#include <string>

namespace syncline::calibrate {

class Progress {
public:
  /// Prints nothing unless `isShown`. `seconds` is the time of the whole calibration.
  Progress(bool isShown, double seconds) : line(isShown), seconds(seconds) {}

  /// Reports what is measured from now on, `now` seconds after the start.
  void tell(const std::string &what, double now);
  const std::string &current() const { return what; }

private:
  launch::ProgressLine line;
  const double seconds;
  std::string what;
};

} // namespace syncline::calibrate
