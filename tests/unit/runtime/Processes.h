// Ranks as processes.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline::testing {

/// A syncline-run that is under way. Killed with the object.
class Process {
public:
  /// `environment` is added to this process's, from which every starter's variables are removed.
  Process(const std::vector<std::string> &arguments,
          const std::map<std::string, std::string> &environment = {});
  ~Process();
  Process(const Process &) = delete;

  void signal(int number) const;
  /// Exit code, or minus the signal that ended it; fails the test after `seconds`.
  int wait(double seconds);
  /// Returns when its output contains the text; fails the test after `seconds`.
  void waitForOutput(const std::string &text, double seconds) const;
  /// stdout and stderr so far.
  std::string output() const;
  int id() const { return pid; }

private:
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
                 const std::map<std::string, std::string> &environment = {}, double seconds = 60);

/// A port that is free. It lies below the range from which the system takes the ports of outgoing
/// connections, and no other test gets it until this process ends.
int freePort();

} // namespace syncline::testing
