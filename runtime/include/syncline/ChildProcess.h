// Child processes: programs, and computations of this program that may crash.
#pragma once

#include "syncline/Status.h"

#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <sched.h>
#include <string>
#include <utility>
#include <vector>

namespace syncline {

/// How a process has ended.
struct ProcessEnd {
  int code = 0;   ///< its exit code
  int signal = 0; ///< the signal that ended it; 0: none

  bool isSuccess() const { return code == 0 && signal == 0; }
  /// "ended with exit code 3" or "was killed by signal 9 (Killed)".
  std::string text() const;
};

/// What a child has answered, and how it ended.
struct ChildAnswer {
  std::string text; ///< whole where no signal ended the child
  ProcessEnd end;
};

/// A program to start.
struct ChildProgram {
  std::string path;
  std::vector<std::string> arguments; ///< the first is the program's name
  /// Environment variables that differ from those of this process; without a value: removed.
  std::map<std::string, std::optional<std::string>> variables = {};
  /// Files that become its standard streams; empty: those of this process. It appends to `output`
  /// and `errors`, which may be the same file.
  std::string input = {}, output = {}, errors = {};
  cpu_set_t processors = {};         ///< that it may use; none: all that this process may use
  const sigset_t *blocked = nullptr; ///< signals that it blocks; null: those of this thread
  int deathSignal = SIGKILL;         ///< what it receives when the thread that started it ends
  /// Whether a guard stands between this process and the program, for programs that start others:
  /// the system does not tell those of this process's death. The guard leads a process group with
  /// all of them, ends as the program ends, and ends the group where this process dies.
  bool hasGuard = false;
};

/// A child process. The destructor kills it where it still runs. Not thread-safe.
class ChildProcess {
public:
  /// Returns when the program runs. SIGINT, SIGTERM and SIGHUP end it even before that, unless this
  /// process ignores them. This process ceases to ignore SIGCHLD, because otherwise nobody learns
  /// how a child ends. Errors: badInput with the system's reason.
  static Result<ChildProcess> start(const ChildProgram &program);

  ChildProcess(ChildProcess &&other) noexcept
      : pid(std::exchange(other.pid, -1)), leadsGroup(other.leadsGroup), ended(other.ended) {}
  ~ChildProcess();

  /// The process's number, and that of its group where it has a guard.
  int id() const { return pid; }
  /// Nothing unless it ends within `most`. A signal to this process ends the wait early.
  std::optional<ProcessEnd> waitFor(std::chrono::milliseconds most);
  ProcessEnd wait();
  /// Sends a signal to the program, where it has a guard also to what it has started. Does nothing
  /// once its end is known.
  void send(int signal) const;

private:
  friend Result<ChildAnswer> answerOfChild(const std::function<std::string()> &, unsigned);
  explicit ChildProcess(int pid, bool leadsGroup = false) : pid(pid), leadsGroup(leadsGroup) {}
  void reap(int options);

  int pid = -1;
  bool leadsGroup = false;
  std::optional<ProcessEnd> ended;
};

/// Forks, and returns what `work` returns in the child, or the signal by which the child ended:
/// SIGALRM after `seconds`, where given. The child ends with its parent, dumps no core, and keeps
/// no handler of a crash. `work` must not take locks that other threads may hold. What it throws
/// ends the child by SIGABRT. Takes about 1 ms, more for large processes. Errors: badInput where no
/// process can be started.
Result<ChildAnswer> answerOfChild(const std::function<std::string()> &work, unsigned seconds = 0);

} // namespace syncline
