// A progress line of a long command, on standard error.
#pragma once

#include "runtime/core/Deadline.h"

#include <string>

namespace syncline::launch {

/// As much of the line's beginning as one row of standard error's terminal takes; all of it where
/// that is no terminal or has no known width. A line of two rows could not be overwritten.
std::string fittedToTerminal(const std::string &line);

/// On a terminal, one line that is overwritten and finally erased; elsewhere, one line every five
/// seconds. Not thread-safe.
class ProgressLine {
public:
  /// Prints nothing unless `isShown`. With `quietSeconds` above 0, show() prints nothing until so
  /// much time has passed; where standard error is no terminal, until five seconds have passed if
  /// that is longer.
  explicit ProgressLine(bool isShown, double quietSeconds = 0);
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  ~ProgressLine();

  /// Shows `text`, which has no line break.
  void show(const std::string &text);
  /// Erases the line on a terminal, so that something else can be printed; show() prints it again.
  void erase();

private:
  const bool isShown, isTerminal;
  bool isOpen = false;         ///< a line stands on the terminal
  core::Clock::time_point due; ///< before it, show() prints nothing
};

} // namespace syncline::launch
