// Writing and erasing the line.
#include "runtime/launch/ProgressLine.h"

#include <cstdio>
#include <unistd.h>

namespace syncline {

ProgressLine::ProgressLine(bool isShown)
    : isShown(isShown), isTerminal(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (isShown && isTerminal)
    std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(const std::string &text) {
  constexpr double betweenLines = 5;
  if (!isShown || (!isTerminal && last != Clock::time_point() && secondsSince(last) < betweenLines))
    return;
  last = Clock::now();
  std::fprintf(stderr, isTerminal ? "\r\x1b[K%s" : "%s\n", text.c_str());
  std::fflush(stderr);
}

} // namespace syncline
