// Ctrl-C and its relatives while files are half-written.
#pragma once

namespace syncline {

/// While it lives, SIGINT, SIGTERM and SIGHUP do not end this process: they end the compiler that
/// setCompiler named, and are delivered again, with their usual effect, when this is destroyed. So
/// whoever holds one can remove what is half-written in between. Signals that were ignored before
/// stay ignored. At most one at a time; not thread-safe.
class Interruption {
public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption &) = delete;
  Interruption &operator=(const Interruption &) = delete;

  /// Has a signal come?
  static bool pending();
  /// The compiler runs as the leader of process group `group`; 0 when it has ended.
  static void setCompiler(int group);
};

} // namespace syncline
