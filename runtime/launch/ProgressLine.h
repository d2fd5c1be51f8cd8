// Where a long command is, on standard error.
#pragma once

#include "runtime/core/Deadline.h"

#include <string>

namespace syncline {

/// On a terminal one line that is written over, and erased at the end; elsewhere a line every five
/// seconds. Not thread-safe.
class ProgressLine {
public:
  /// Says nothing unless `isShown`.
  explicit ProgressLine(bool isShown);
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  ~ProgressLine();

  /// `text` without a line break.
  void show(const std::string &text);

private:
  const bool isShown, isTerminal;
  Clock::time_point last;
};

} // namespace syncline
