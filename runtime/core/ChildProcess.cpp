// The one place that forks. A child learns of its parent's death by the signal that it asked for.
#include "syncline/ChildProcess.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace syncline {
namespace {

constexpr int interruptions[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int parentDied = SIGUSR1; ///< what a guard receives

Status systemError(const std::string &what, int error = errno) {
  return Status::badInput(what + std::strerror(error));
}

ProcessEnd endOf(int status) {
  if (WIFSIGNALED(status))
    return {.signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status)};
}

/// Forks. `work` runs in the child and does not return. Returns -1 and sets errno as fork() does.
int forkChild(int deathSignal, const auto &work) {
  std::signal(SIGCHLD, SIG_DFL); // where it is ignored, nobody learns how a child ended
  const pid_t parent = getpid(), child = fork();
  if (child != 0)
    return child;
  prctl(PR_SET_PDEATHSIG, deathSignal);
  if (getppid() != parent) // it died before the line above
    _exit(1);
  work();
  std::abort();
}

sigset_t setOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals)
    sigaddset(&set, signal);
  return set;
}

/// Blocks signals while it lives. Until exec a child has its parent's handlers, which would only
/// note a signal that should end the child.
class HeldSignals {
public:
  HeldSignals() {
    const sigset_t held = setOf({SIGINT, SIGTERM, SIGHUP, SIGCHLD, parentDied});
    sigprocmask(SIG_BLOCK, &held, &before);
  }
  HeldSignals(const HeldSignals &) = delete;
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before, nullptr); }

  sigset_t before;
};

/// The words of a command line or an environment as exec takes them.
std::vector<char *> pointersTo(const std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environmentOf(const ChildProgram &program) {
  std::vector<std::string> all;
  for (char **entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (!program.variables.contains(std::string(text.substr(0, text.find('=')))))
      all.emplace_back(text);
  }
  for (const auto &[name, value] : program.variables)
    if (value)
      all.push_back(name + "=" + *value);
  return all;
}

bool redirect(int stream, const std::string &path, int flags) {
  if (path.empty())
    return true;
  const int file = open(path.c_str(), flags, 0666);
  if (file < 0 || file == stream)
    return file >= 0;
  const bool isDone = dup2(file, stream) >= 0;
  close(file);
  return isDone;
}

/// What a child needs to become a program. Made before fork, after which nothing may be allocated.
class Start {
public:
  Start(const ChildProgram &program, const sigset_t &blocked, int report)
      : program(program), blocked(program.blocked ? *program.blocked : blocked), report(report),
        variables(environmentOf(program)), argv(pointersTo(program.arguments)),
        envp(pointersTo(variables)) {}

  /// Reports the error's number where the program does not start.
  [[noreturn]] void become() const {
    constexpr int appending = O_WRONLY | O_CREAT | O_APPEND;
    if (redirect(STDIN_FILENO, program.input, O_RDONLY) &&
        redirect(STDOUT_FILENO, program.output, appending) &&
        redirect(STDERR_FILENO, program.errors, appending)) {
      if (CPU_COUNT(&program.processors) > 0)
        sched_setaffinity(0, sizeof program.processors, &program.processors);
      for (const int signal : interruptions) {
        struct sigaction action{};
        if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
          ::signal(signal, SIG_DFL);
      }
      sigprocmask(SIG_SETMASK, &blocked, nullptr);
      execve(program.path.c_str(), argv.data(), envp.data());
    }
    fail();
  }

  /// Starts the program, and waits for its end or the parent's.
  [[noreturn]] void guard() const {
    setpgid(0, 0);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    const pid_t child = forkChild(SIGKILL, [&] { become(); });
    if (child < 0)
      fail();
    close(report);          // by itself, because an old kernel has no close_range()
    close_range(0, ~0U, 0); // or else readers of the program's pipes would wait for this process
    const sigset_t awaited = setOf({SIGCHLD, parentDied});
    for (;;) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child)
        endAs(endOf(status));
      if (sigwaitinfo(&awaited, nullptr) == parentDied)
        kill(0, SIGKILL);
    }
  }

private:
  [[noreturn]] void fail() const {
    const int error = errno;
    _exit(write(report, &error, sizeof error) == sizeof error ? 1 : 2);
  }

  [[noreturn]] static void endAs(ProcessEnd end) {
    if (end.signal == 0)
      _exit(end.code);
    const rlimit none{0, 0};
    (void)setrlimit(RLIMIT_CORE, &none); // the program may have left one
    ::signal(end.signal, SIG_DFL);
    const sigset_t one = setOf({end.signal});
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
    raise(end.signal);
    _exit(1);
  }

  const ChildProgram &program;
  const sigset_t blocked;
  const int report; ///< the end of a pipe that closes when the program starts
  const std::vector<std::string> variables;
  const std::vector<char *> argv, envp;
};

/// Lets a crash end the child by the signal itself, without a message.
void prepareToDie(unsigned seconds) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM})
    std::signal(signal, SIG_DFL);
  const rlimit none{0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
  alarm(seconds);
}

[[noreturn]] void answer(const std::function<std::string()> &work, int out) {
  std::string text;
  try {
    text = work();
  } catch (...) { // a child must not return to its parent's handlers
    std::abort();
  }
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = TEMP_FAILURE_RETRY(write(out, rest.data(), rest.size()));
    if (written <= 0)
      break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  _exit(0);
}

/// A pipe from a child to this process; not open where the system gives none.
class Pipe {
public:
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      return;
    // Where standard files are closed, the input would have the number of one that is redirected.
    const int above = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(std::exchange(ends[1], above));
    if (above < 0)
      close(std::exchange(ends[0], -1));
  }
  Pipe(const Pipe &) = delete;
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0)
        close(end);
  }
  bool isOpen() const { return ends[0] >= 0; }
  int input() const { return ends[1]; }
  /// All that is written to the input, which this process closes, until nobody has it open.
  std::string readAll() {
    close(std::exchange(ends[1], -1));
    std::string text;
    char part[4096];
    for (ssize_t size = 0; (size = TEMP_FAILURE_RETRY(read(ends[0], part, sizeof part))) > 0;)
      text.append(part, static_cast<std::size_t>(size));
    return text;
  }

private:
  int ends[2] = {-1, -1};
};

} // namespace

std::string ProcessEnd::text() const {
  if (signal == 0)
    return "ended with exit code " + std::to_string(code);
  return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

Result<ChildProcess> ChildProcess::start(const ChildProgram &program) {
  Pipe pipe;
  if (!pipe.isOpen())
    return systemError("");
  const HeldSignals held;
  const Start how(program, held.before, pipe.input());
  ChildProcess child(forkChild(program.hasGuard ? parentDied : program.deathSignal,
                               [&] { program.hasGuard ? how.guard() : how.become(); }),
                     program.hasGuard);
  if (child.pid < 0)
    return systemError("");
  int error = 0;
  if (const std::string report = pipe.readAll(); report.size() == sizeof error) {
    std::memcpy(&error, report.data(), sizeof error);
    return systemError("", error);
  }
  return child;
}

ChildProcess::~ChildProcess() {
  send(SIGKILL);
  if (pid > 0)
    wait();
}

std::optional<ProcessEnd> ChildProcess::waitFor(std::chrono::milliseconds most) {
  if (!ended) {
    const int file = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    pollfd end{.fd = file, .events = POLLIN, .revents = 0}; // sleeps where there is no file
    poll(&end, 1, static_cast<int>(most.count()));
    close(file);
  }
  reap(WNOHANG);
  return ended;
}

ProcessEnd ChildProcess::wait() {
  reap(0);
  return *ended;
}

void ChildProcess::send(int signal) const {
  if (pid > 0 && !ended)
    kill(leadsGroup ? -pid : pid, signal);
}

void ChildProcess::reap(int options) {
  int status = W_EXITCODE(1, 0); // stays where nobody knows
  if (!ended && TEMP_FAILURE_RETRY(waitpid(pid, &status, options)) != 0)
    ended = endOf(status);
}

Result<ChildAnswer> answerOfChild(const std::function<std::string()> &work, unsigned seconds) {
  Pipe pipe;
  if (!pipe.isOpen())
    return systemError("cannot open a pipe: ");
  ChildProcess child(forkChild(SIGKILL, [&] {
    prepareToDie(seconds);
    answer(work, pipe.input());
  }));
  if (child.pid < 0)
    return systemError("cannot start a process: ");
  std::string text = pipe.readAll();
  return ChildAnswer{std::move(text), child.wait()};
}

} // namespace syncline
