// Programs that this command starts and that end before it does.
#pragma once

#include "codegen/step/Interruption.h"
#include "syncline/Status.h"

#include <functional>
#include <string>
#include <vector>

namespace syncline::profile {

/// A folder for their files, and the processes, in a group of their own. Both are gone when this
/// object is, also after SIGINT, SIGTERM and SIGHUP, which end the processes first; were this
/// process to be killed, they would be as well. At most one at a time; not thread-safe.
class ChildProcesses {
public:
  /// Errors: badInput where no temporary folder can be made.
  Status create();
  ~ChildProcesses();
  std::string file(const std::string &name) const { return folder + "/" + name; }

  struct Child {
    int pid = -1;
    std::string program, output, errors; ///< the latter two are files
  };
  /// `arguments` begin with the program's path. Output and errors go to files. `processor`, where
  /// not negative, is the only one that it may run on, modulo their number.
  Result<Child> start(const std::vector<std::string> &arguments, int processor = -1);
  /// Waits for it to end. Its failure is badInput, or internal, with the last line of its errors.
  /// `meanwhile`, where given, is called about ten times a second.
  Status wait(Child &child, const std::function<void()> &meanwhile = {});
  /// Returns when the child has written something; wait()'s error when it ended before.
  Status waitForOutput(Child &child);
  /// badInput when a signal came.
  Status checkInterruption() const;

private:
  Status failureOf(const Child &child, int status) const;

  Interruption interruption;
  std::string folder;
  std::vector<int> running;
  int group = 0, started = 0;
};

/// Processors that this process may run on, at least 1.
int usableProcessors();

} // namespace syncline::profile
