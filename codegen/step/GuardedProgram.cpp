// A guard between this process and the program. The system tells a process of its parent's death,
// but not the processes that it has started, and a compiler starts several. The guard leads their
// process group, learns of the death, and ends the group.
#include "codegen/step/GuardedProgram.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace syncline::codegen {
namespace {

constexpr int parentDied = SIGUSR1;
constexpr int interruptions[] = {SIGINT, SIGTERM, SIGHUP};

/// Arguments of execve; prepared before fork, after which nothing may be allocated.
std::vector<char *> pointersTo(const std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

sigset_t setOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals)
    sigaddset(&set, signal);
  return set;
}

/// Signals that were held back reach the program with their usual effect, not the handlers that
/// this process had.
[[noreturn]] void become(const char *path, char *const *arguments, char *const *environment,
                         const sigset_t &signals) {
  for (const int signal : interruptions) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      ::signal(signal, SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  execve(path, arguments, environment);
  _exit(errno == ENOENT ? 127 : 126);
}

[[noreturn]] void endAs(int status) {
  if (WIFEXITED(status))
    _exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const rlimit none{0, 0};
  (void)setrlimit(RLIMIT_CORE, &none); // the program may have left one
  ::signal(signal, SIG_DFL);
  const sigset_t one = setOf({signal});
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  _exit(1);
}

/// Waits for the program's end, or the parent's.
[[noreturn]] void guard(pid_t program) {
  const sigset_t awaited = setOf({SIGCHLD, parentDied});
  for (;;) {
    int status = 0;
    if (waitpid(program, &status, WNOHANG) == program)
      endAs(status);
    if (sigwaitinfo(&awaited, nullptr) == parentDied)
      kill(0, SIGKILL);
  }
}

} // namespace

pid_t GuardedProgram::start() const {
  const std::vector<char *> words = pointersTo(arguments), variables = pointersTo(environment);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (output < 0)
    return -1;
  // Held back until both processes know the group, and for the guard always: the program's own end
  // ends it.
  const sigset_t held = setOf({SIGINT, SIGTERM, SIGHUP, SIGCHLD, parentDied});
  sigset_t before;
  sigprocmask(SIG_BLOCK, &held, &before);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    signal(SIGCHLD, SIG_DFL); // where it is ignored, nobody learns how a child ended
    prctl(PR_SET_PDEATHSIG, parentDied);
    if (getppid() != parent) // it died before the line above
      _exit(1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, 0); // nobody waits for this process to let a file go
    const pid_t program = fork();
    if (program == 0)
      become(path.c_str(), words.data(), variables.data(), before);
    if (program < 0)
      _exit(126);
    guard(program);
  }
  const int error = errno;
  if (child > 0)
    setpgid(child, child); // parent and child both call it: either may run first
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(output);
  errno = error;
  return child;
}

} // namespace syncline::codegen
