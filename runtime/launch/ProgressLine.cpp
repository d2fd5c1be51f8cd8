// Writing and erasing the line.
#include "runtime/launch/ProgressLine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace syncline::launch {

static constexpr double betweenLines = 5; // seconds, where standard error is no terminal

static core::Clock::time_point after(double seconds) {
  return core::Clock::now() +
         std::chrono::duration_cast<core::Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string fittedToTerminal(const std::string &line) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
    return line;
  // The last column stays free: some terminals begin a new row as soon as it is written.
  return line.substr(0, size.ws_col - 1);
}

ProgressLine::ProgressLine(bool isShown, double quietSeconds)
    : isShown(isShown), isTerminal(isatty(STDERR_FILENO) == 1),
      due(after(isTerminal || quietSeconds <= 0 ? quietSeconds
                                                : std::max(quietSeconds, betweenLines))) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::show(const std::string &text) {
  if (!isShown || core::Clock::now() < due)
    return;
  if (!isTerminal)
    due = after(betweenLines);
  isOpen = isTerminal;
  std::fprintf(stderr, isTerminal ? "\r\x1b[K%s" : "%s\n", fittedToTerminal(text).c_str());
  std::fflush(stderr);
}

void ProgressLine::erase() {
  if (!isOpen)
    return;
  isOpen = false;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

} // namespace syncline::launch
