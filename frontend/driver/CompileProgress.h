// What `syncline compile` is doing, on standard error, where it takes long.
#pragma once

#include "runtime/launch/ProgressLine.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace syncline::driver {

/// Shows the current phase and the seconds since the beginning, from the third second on. A thread
/// of its own keeps the line up to date: a phase may last long. enter(), hide() and the destructor
/// belong to one thread.
class CompileProgress {
public:
  /// Prints nothing unless `isShown`.
  explicit CompileProgress(bool isShown);
  ~CompileProgress();
  CompileProgress(const CompileProgress &) = delete;
  CompileProgress &operator=(const CompileProgress &) = delete;

  void enter(const std::string &phase);
  /// Erases the line and shows none until the next phase, so that something else can be printed.
  void hide();

private:
  void showUntilDone();

  std::mutex mutex;
  std::condition_variable changed;
  launch::ProgressLine line;
  std::string phase; ///< empty where nothing is shown
  bool isDone = false;
  const core::Clock::time_point start = core::Clock::now();
  std::thread thread;
};

} // namespace syncline::driver
