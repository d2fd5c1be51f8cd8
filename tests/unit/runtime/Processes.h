// Ranks as processes.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline::testing {

/// A syncline-run that is under way. Killed with the object.
class Process {
public:
  /// `environment` is added to this process's, which has no launcher's variables. Signals do what
  /// they do by default. The process reads no input.
  Process(const std::vector<std::string> &arguments,
          const std::map<std::string, std::string> &environment = {});
  ~Process();
  Process(const Process &) = delete;

  void signal(int number) const;
  /// Sends SIGSTOP and returns when the process stands still.
  void stop() const;
  /// Exit code, or minus the signal that ended it. Fails the test where the process does not end.
  int wait();
  /// Returns when its output contains the text. Fails the test where it does not come, and as soon
  /// as the process has ended without it.
  void waitForOutput(const std::string &text) const;
  /// stdout and stderr so far.
  std::string output() const;
  int id() const { return pid; }
  /// The processes that it has started, in that order.
  std::vector<int> children() const;

private:
  bool hasEnded() const;

  int pid = -1;
  bool ended = false;
  std::string log;
};

struct Outcome {
  int code;
  std::string output;
};
/// Runs syncline-run to its end.
Outcome runToEnd(const std::vector<std::string> &arguments,
                 const std::map<std::string, std::string> &environment = {});

/// The variable by which ranks that a test starts meet at a port of this host.
inline std::map<std::string, std::string> meetingAt(int port) {
  return {{"MASTER_PORT", std::to_string(port)}};
}

/// Where a rank's dump is for `--dump d`, in the folder of d.
inline std::string dumpOf(int rank) { return rank == 0 ? "d" : "d/rank" + std::to_string(rank); }

/// A port that is free for a listener. The kernel gives it to nobody else until this process ends.
int freePort();
/// Takes a port as freePort() does. False where somebody has it.
bool holdPort(int port);

} // namespace syncline::testing
