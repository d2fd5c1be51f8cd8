// A thread that writes the line anew four times a second.
#include "frontend/driver/CompileProgress.h"

#include "runtime/core/Guarded.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <pthread.h>
#include <system_error>

namespace syncline::driver {

/// A compilation shorter than this shows nothing.
static constexpr double quietSeconds = 2;

CompileProgress::CompileProgress(bool isShown) : line(isShown, quietSeconds) {
  if (!isShown)
    return;
  // Signals are for the main thread, which knows what is half-written.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    // The compilation also goes on where showing the line fails.
    thread = std::thread([this] {
      static_cast<void>(core::guarded([this] { return showUntilDone(), Status::ok(); }));
    });
  } catch (const std::system_error &) {
    // Where the system starts no more threads, the compilation goes on without the line.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CompileProgress::~CompileProgress() {
  {
    std::lock_guard lock(mutex);
    isDone = true;
  }
  changed.notify_one();
  if (thread.joinable())
    thread.join();
}

void CompileProgress::enter(const std::string &name) {
  std::lock_guard lock(mutex);
  phase = name;
}

void CompileProgress::hide() {
  std::lock_guard lock(mutex);
  phase.clear();
  line.erase();
}

void CompileProgress::showUntilDone() {
  constexpr std::chrono::milliseconds pause(250);
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, pause, [this] { return isDone; }))
    if (!phase.empty())
      line.show("compile: " + phase + ", " +
                std::to_string(std::lround(core::secondsSince(start))) + " s");
}

} // namespace syncline::driver
