// Where a calibration is and how long it will take, on stderr.
#pragma once

#include "runtime/launch/ProgressLine.h"

#include <string>

namespace syncline::calibrate {

class Progress {
public:
  /// Says nothing unless `isShown`. `seconds` is the whole calibration's time.
  Progress(bool isShown, double seconds) : line(isShown), seconds(seconds) {}

  /// What is being measured from now on, `now` seconds after the start.
  void tell(const std::string &what, double now);
  const std::string &current() const { return what; }

private:
  ProgressLine line;
  const double seconds;
  std::string what;
};

} // namespace syncline::calibrate
