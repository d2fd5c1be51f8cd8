// A progress line of a long command, on standard error.
#pragma once

#include "runtime/core/Deadline.h"

#include <string>

namespace syncline {

/// On a terminal, one line that is overwritten and finally erased; elsewhere, one line every five
/// seconds. Not thread-safe.
class ProgressLine {
public:
  /// Prints nothing unless `isShown`.
  explicit ProgressLine(bool isShown);
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  ~ProgressLine();

  /// Shows `text`, which has no line break.
  void show(const std::string &text);

private:
  const bool isShown, isTerminal;
  Clock::time_point last;
};

} // namespace syncline
