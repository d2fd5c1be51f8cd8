// Forks, computes, and passes the answer through a pipe.
#include "syncline/ChildAnswer.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace syncline {
namespace {

/// Lets a crash end the child by the signal itself, without a message.
void prepareToDie(pid_t parent, unsigned seconds) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM})
    std::signal(signal, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
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
    const ssize_t written = write(out, rest.data(), rest.size());
    if (written > 0)
      rest.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      break;
  }
  _exit(0);
}

std::string readAll(int from) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t size = read(from, part, sizeof part);
    if (size > 0)
      text.append(part, static_cast<std::size_t>(size));
    else if (size == 0 || errno != EINTR)
      return text;
  }
}

} // namespace

Result<ChildAnswer> answerOfChild(const std::function<std::string()> &work, unsigned seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Status::badInput(std::string("cannot open a pipe: ") + std::strerror(errno));
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    prepareToDie(parent, seconds);
    answer(work, ends[1]);
  }
  const int reason = errno;
  close(ends[1]);
  ChildAnswer answered;
  if (child > 0)
    answered.text = readAll(ends[0]);
  close(ends[0]);
  if (child < 0)
    return Status::badInput(std::string("cannot start a process: ") + std::strerror(reason));
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(state))
    answered.signal = WTERMSIG(state);
  return answered;
}

} // namespace syncline
