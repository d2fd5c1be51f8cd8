// Programs that this command starts and that end before it does.
#pragma once

#include "codegen/folder/PartialFolder.h"
#include "syncline/ChildProcess.h"

#include <functional>
#include <string>
#include <vector>

namespace syncline::profile {

/// Starts programs and has a folder for their files, which the destructor removes. SIGINT, SIGTERM
/// and SIGHUP end the program that is waited for first; if this process is killed, all end, and the
/// next one removes the folder. At most one object exists at a time. Not thread-safe.
class ChildProcesses {
public:
  /// Errors: badInput where no temporary folder can be made.
  Status create() { return folder.createTemporary(); }
  std::string file(const std::string &name) const { return folder.file(name); }

  /// A program, which ends with this object.
  struct Child {
    ChildProcess process;
    std::string program, output, errors; ///< `output` and `errors` are paths of files
  };
  /// `arguments` begin with the program's path. Output and errors go to files. It may run
  /// on `processors`, or where there are none on all.
  Result<Child> start(const std::vector<std::string> &arguments, const cpu_set_t &processors = {});
  /// Waits for the child to end. Its failure is badInput or internal, with the last line that it
  /// wrote to its errors. Calls `meanwhile`, where given, about ten times a second.
  static Status wait(Child &child, const std::function<void()> &meanwhile = {});
  /// Returns when the child has written something; wait()'s error when it ended before.
  static Status waitForOutput(Child &child);

private:
  codegen::PartialFolder folder; ///< also holds back interruptions
  int started = 0;
};

} // namespace syncline::profile
