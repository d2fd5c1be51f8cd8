// Programs that this command starts and that end before it does.
#pragma once

#include "codegen/folder/PartialFolder.h"
#include "syncline/Status.h"

#include <functional>
#include <sched.h>
#include <string>
#include <vector>

namespace syncline::profile {

/// Processes in a group of their own, and a folder for their files. The destructor ends the
/// processes and removes the folder. SIGINT, SIGTERM and SIGHUP end the processes first; if this
/// process is killed, so are they, and the next one removes the folder. At most one object exists
/// at a time. Not thread-safe.
class ChildProcesses {
public:
  /// Errors: badInput where no temporary folder can be made.
  Status create();
  ~ChildProcesses();
  std::string file(const std::string &name) const { return folder.file(name); }

  struct Child {
    int pid = -1;
    std::string program, output, errors; ///< `output` and `errors` are paths of files
  };
  /// `arguments` begin with the program's path. Output and errors go to files. It may run
  /// on `processors`, or where there are none on all.
  Result<Child> start(const std::vector<std::string> &arguments, const cpu_set_t &processors = {});
  /// Waits for the child to end. Its failure is badInput or internal, with the last line that it
  /// wrote to its errors. Calls `meanwhile`, where given, about ten times a second.
  Status wait(Child &child, const std::function<void()> &meanwhile = {});
  /// Returns when the child has written something; wait()'s error when it ended before.
  Status waitForOutput(Child &child);
  /// badInput where a signal came that ends the command.
  Status checkInterruption() const;

private:
  Status failureOf(const Child &child, int status) const;

  codegen::PartialFolder folder; ///< also holds back interruptions
  std::vector<int> running;
  int group = 0, started = 0;
};

} // namespace syncline::profile
