// Where a calibration is and how long it will take, on stderr.
#pragma once

#include "runtime/core/Deadline.h"

#include <string>

namespace syncline::calibrate {

/// On a terminal one line that is written over; elsewhere a line every few seconds.
class Progress {
public:
  /// Says nothing unless `isShown`. `seconds` is the whole calibration's time.
  Progress(bool isShown, double seconds);
  /// Ends the line.
  ~Progress();

  /// What is being measured from now on, `now` seconds after the start.
  void tell(const std::string &what, double now);
  const std::string &current() const { return what; }

private:
  const bool isShown, isTerminal;
  const double seconds;
  std::string what;
  Clock::time_point lastLine;
};

} // namespace syncline::calibrate
