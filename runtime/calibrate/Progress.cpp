// Lines for people.
#include "runtime/calibrate/Progress.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace syncline::calibrate {

Progress::Progress(bool isShown, double seconds)
    : isShown(isShown), isTerminal(isatty(STDERR_FILENO) == 1), seconds(seconds) {}

Progress::~Progress() {
  if (isShown && isTerminal)
    std::fputs("\r\x1b[K", stderr);
}

void Progress::tell(const std::string &next, double now) {
  what = next;
  constexpr double betweenLines = 5;
  if (!isShown ||
      (!isTerminal && lastLine != Clock::time_point() && secondsSince(lastLine) < betweenLines))
    return;
  lastLine = Clock::now();
  std::fprintf(stderr,
               isTerminal ? "\r\x1b[Kcalibrating: %s, %.0f s left"
                          : "calibrating: %s, %.0f s left\n",
               what.c_str(), std::max(0.0, seconds - now));
  std::fflush(stderr);
}

} // namespace syncline::calibrate
