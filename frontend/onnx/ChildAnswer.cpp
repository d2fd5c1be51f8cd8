// Forks, computes, and passes the answer through a pipe.
#include "frontend/onnx/ChildAnswer.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

using namespace syncline;

namespace {

constexpr unsigned maxSeconds = 10;

[[noreturn]] void compute(llvm::function_ref<std::string()> compute, int out) {
  const rlimit none{0, 0};
  (void)setrlimit(RLIMIT_CORE, &none); // a crash is expected
  alarm(maxSeconds);
  const std::string answer = compute();
  for (std::size_t at = 0; at < answer.size();) {
    const ssize_t written = write(out, answer.data() + at, answer.size() - at);
    if (written < 0)
      _exit(1);
    at += static_cast<std::size_t>(written);
  }
  _exit(0);
}

std::string readAll(int in) {
  std::string answer;
  char part[4096];
  for (;;) {
    const ssize_t size = read(in, part, sizeof(part));
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return answer;
    answer.append(part, static_cast<std::size_t>(size));
  }
}

} // namespace

Result<std::string> frontend::answerOfChild(llvm::function_ref<std::string()> work) {
  int ends[2];
  if (pipe(ends) != 0)
    return Status::badInput("cannot open a pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    compute(work, ends[1]);
  }
  close(ends[1]);
  std::string answer = child > 0 ? readAll(ends[0]) : std::string();
  close(ends[0]);
  if (child < 0)
    return Status::badInput("cannot start a process");
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR)
    continue;
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
    return Status::badInput("the ONNX library fails on it");
  return answer;
}
