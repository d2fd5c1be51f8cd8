// Defers signals that end the process, such as Ctrl-C, while files are half-written.
#pragma once

namespace syncline::codegen {

/// While this object exists, SIGINT, SIGTERM and SIGHUP do not end this process. They end the
/// compiler that setCompiler named. The destructor delivers them again, with their usual effect, so
/// that the owner can remove half-written files before. Signals that were ignored before stay
/// ignored. There is at most one such object at a time; the class is not thread-safe.
class Interruption {
public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption &) = delete;
  Interruption &operator=(const Interruption &) = delete;

  /// Whether a signal has come.
  static bool pending() { return count() > 0; }
  /// How many signals have come.
  static int count();
  /// Says that a compiler leads the process group `group`, or with 0 that it has ended.
  static void setCompiler(int group);
};

} // namespace syncline::codegen
