// Starts processes by fork and exec, and waits for them.
#include "frontend/profile/ChildProcesses.h"

#include "runtime/launch/Processors.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace syncline::profile {

static Status systemError(const std::string &what) {
  return Status::badInput(what + ": " + std::strerror(errno));
}

Status ChildProcesses::create() { return folder.createTemporary(); }

ChildProcesses::~ChildProcesses() {
  for (const int pid : running)
    kill(pid, SIGKILL);
  for (const int pid : running)
    waitpid(pid, nullptr, 0);
  codegen::Interruption::setCompiler(0);
}

namespace {

/// Blocks signals while it lives. Until exec a child has its parent's handlers, which would only
/// note a signal that should end the child.
class HeldSignals {
public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &before);
  }
  HeldSignals(const HeldSignals &) = delete;
  ~HeldSignals() { letGo(); }
  void letGo() const { sigprocmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

} // namespace

/// Runs in the new process, between fork and exec, where only system calls are allowed.
[[noreturn]] static void become(char *const *arguments, int output, int errors, int group,
                                const cpu_set_t &processors, int parent,
                                const HeldSignals &signals) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  setpgid(0, group);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  launch::keepOn(processors);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    ::signal(signal, SIG_DFL);
  signals.letGo();
  execv(arguments[0], arguments);
  dprintf(STDERR_FILENO, "cannot start '%s': %s\n", arguments[0], std::strerror(errno));
  _exit(1);
}

Result<ChildProcesses::Child> ChildProcesses::start(const std::vector<std::string> &arguments,
                                                    const cpu_set_t &processors) {
  SYNCLINE_TRY(checkInterruption());
  Child child;
  const std::string number = std::to_string(started++);
  child.program = fs::path(arguments.front()).filename().string();
  child.output = file("output" + number);
  child.errors = file("errors" + number);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const int output = open(child.output.c_str(), flags, 0600);
  const int errors = open(child.errors.c_str(), flags, 0600);
  std::vector<std::string> copies = arguments;
  std::vector<char *> words;
  for (std::string &word : copies)
    words.push_back(word.data());
  words.push_back(nullptr);
  const int parent = getpid();
  const HeldSignals signals;
  if (output >= 0 && errors >= 0)
    child.pid = fork();
  if (child.pid == 0)
    become(words.data(), output, errors, group, processors, parent, signals);
  const int failed = errno;
  close(output);
  close(errors);
  errno = failed;
  if (child.pid < 0)
    return systemError("cannot start '" + arguments.front() + "'");
  if (group == 0)
    group = child.pid;
  setpgid(child.pid, group); // parent and child both call it: either may run first
  codegen::Interruption::setCompiler(group);
  running.push_back(child.pid);
  return child;
}

Status ChildProcesses::wait(Child &child, const std::function<void()> &meanwhile) {
  constexpr auto interval = std::chrono::milliseconds(100);
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child.pid, &status, meanwhile ? WNOHANG : 0);
    if (ended == child.pid)
      break;
    if (ended < 0 && errno != EINTR)
      return systemError("cannot wait for '" + child.program + "'");
    if (meanwhile) {
      meanwhile();
      std::this_thread::sleep_for(interval);
    }
  }
  std::erase(running, child.pid);
  if (running.empty())
    group = 0;
  codegen::Interruption::setCompiler(group);
  SYNCLINE_TRY(checkInterruption());
  return failureOf(child, status);
}

Status ChildProcesses::waitForOutput(Child &child) {
  std::error_code ignored;
  while (fs::file_size(child.output, ignored) == 0) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child.pid) {
      Status s = wait(child);
      return s ? Status::error(ErrorKind::internal, "'" + child.program + "' ended too early") : s;
    }
    if (Status s = checkInterruption(); !s) // even where the signal did not end the child
      return s;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return Status::ok();
}

Status ChildProcesses::checkInterruption() const {
  return codegen::Interruption::pending() ? Status::badInput("interrupted") : Status::ok();
}

/// The failure's message, without "PROGRAM: error: ", which would name the program twice.
Status ChildProcesses::failureOf(const Child &child, int status) const {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return Status::ok();
  std::ifstream errors(child.errors);
  std::string line, last;
  while (std::getline(errors, line))
    if (!line.empty())
      last = line;
  if (WIFSIGNALED(status))
    last = "'" + child.program + "' ended by signal " + std::to_string(WTERMSIG(status)) +
           (last.empty() ? "" : ": " + last);
  const std::string marker = "error: ";
  if (const std::size_t at = last.find(marker); at != std::string::npos)
    last = last.substr(at + marker.size());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 3;
  return Status::error(code == 1   ? ErrorKind::badInput
                       : code == 2 ? ErrorKind::badUsage
                                   : ErrorKind::internal,
                       last);
}

} // namespace syncline::profile
