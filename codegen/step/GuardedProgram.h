// Starts a program that does not outlive this process.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace syncline::codegen {

/// What to start: a path, its arguments (the first is its name) and its environment, "NAME=value".
/// Its input is empty; its output and errors go to the file `log`.
struct GuardedProgram {
  std::string path;
  std::vector<std::string> arguments, environment;
  std::string log;

  /// Starts the program and returns the process to wait for, which ends as the program ends: with
  /// its exit code or by its signal, or with 127 (no such program) or 126 where it does not start.
  /// That process leads a process group with all that the program starts. If this process is
  /// killed, so is the group. Precondition: the calling thread waits for it, since the system ends
  /// it with that thread. Returns -1 and sets errno where no process or log can be made.
  pid_t start() const;
};

} // namespace syncline::codegen
