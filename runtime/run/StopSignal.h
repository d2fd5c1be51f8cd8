// SIGINT and SIGTERM, which end a run after a step.
//
// A thread of its own receives them, for all others block them: no call of a network library is
// interrupted.
#pragma once

namespace syncline {

class StopSignal {
public:
  /// Begins to listen; once, before the process has another thread. Until hold() a signal ends the
  /// process at once, as if nobody listened; signals that were ignored before stay so.
  static void listen();
  /// From here on the first signal is only noted. One that comes a second later or more, or when
  /// the process that started this one is gone, ends the process at once; one that comes sooner is
  /// the same by another way: a terminal tells the launcher and its ranks, and the launcher tells
  /// its ranks.
  static void hold();
  /// The signal that was noted, or 0. From any thread.
  static int received();
};

} // namespace syncline
