// Handling of SIGINT, SIGTERM and SIGHUP, which end a run after the current step.
//
// One thread receives the signals and all other threads block them, so that no call of a network
// library is interrupted.
#pragma once

namespace syncline::run {

class StopSignal {
public:
  /// Starts the thread. Called once, before the process has another thread. Until hold() a signal
  /// ends the process at once, as by default. Signals that were ignored before stay ignored.
  static void listen();
  /// What a further signal does.
  enum class Further { ends, isIgnored };
  /// From here on the first signal is only recorded. A further signal at least a second later ends
  /// the process at once, as does any signal once the parent process has ended. A further signal
  /// within a second is a copy of the first and is ignored: a terminal signals both the launcher
  /// and its ranks, and the launcher passes the signal on to its ranks. With isIgnored no further
  /// signal ends the process while its parent lives: workers need their servers to save.
  static void hold(Further further = Further::ends);
  /// The recorded signal, or 0. May be called from any thread.
  static int received();
};

} // namespace syncline::run
