// Starts programs that write to files, waits for them, and says why they failed.
#include "frontend/profile/ChildProcesses.h"

#include <csignal>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace syncline::profile {

using namespace std::chrono_literals;

/// badInput where a signal came that ends the command.
static Status checkInterruption() {
  return codegen::Interruption::pending() ? Status::badInput("interrupted") : Status::ok();
}

/// The failure's message, without "PROGRAM: error: ", which would name the program twice.
static Status failureOf(const ChildProcesses::Child &child, const ProcessEnd &end) {
  if (end.isSuccess())
    return Status::ok();
  std::ifstream errors(child.errors);
  std::string line, last;
  while (std::getline(errors, line))
    if (!line.empty())
      last = line;
  if (end.signal != 0)
    last = "'" + child.program + "' " + end.text() + (last.empty() ? "" : ": " + last);
  const std::string marker = "error: ";
  if (const std::size_t at = last.find(marker); at != std::string::npos)
    last = last.substr(at + marker.size());
  return Status::error(end.code == 1   ? ErrorKind::badInput
                       : end.code == 2 ? ErrorKind::badUsage
                                       : ErrorKind::internal,
                       last);
}

Result<ChildProcesses::Child> ChildProcesses::start(const std::vector<std::string> &arguments,
                                                    const cpu_set_t &processors) {
  SYNCLINE_TRY(checkInterruption());
  const std::string &path = arguments.front(), number = std::to_string(started++);
  const std::string output = file("output" + number), errors = file("errors" + number);
  Result<ChildProcess> process = ChildProcess::start({.path = path,
                                                      .arguments = arguments,
                                                      .output = output,
                                                      .errors = errors,
                                                      .processors = processors});
  if (!process)
    return Status::badInput("cannot start '" + path + "': " + process.status().message());
  return Child{std::move(*process), fs::path(path).filename().string(), output, errors};
}

Status ChildProcesses::wait(Child &child, const std::function<void()> &meanwhile) {
  int told = 0; // the first signal ends a rank after its step, a later one at once
  do {
    if (const int count = codegen::Interruption::count(); std::exchange(told, count) != count)
      child.process.send(SIGTERM);
    if (meanwhile)
      meanwhile();
  } while (!child.process.waitFor(100ms));
  SYNCLINE_TRY(checkInterruption());
  return failureOf(child, child.process.wait());
}

Status ChildProcesses::waitForOutput(Child &child) {
  std::error_code ignored;
  while (fs::file_size(child.output, ignored) == 0) {
    if (child.process.waitFor(5ms)) {
      Status s = wait(child);
      return s ? Status::error(ErrorKind::internal, "'" + child.program + "' ended too early") : s;
    }
    SYNCLINE_TRY(checkInterruption()); // even where the signal did not end the child
  }
  return Status::ok();
}

} // namespace syncline::profile
