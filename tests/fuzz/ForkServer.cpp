// Preloaded into a command of ours, this library starts the program once and forks a child for
// every call that is requested. A call then takes a millisecond where loading LLVM's libraries
// takes fifty.
//
// The environment variable SYNCLINE_FORK_SERVER holds two file descriptors, "REQUESTS,REPLIES".
// A request is a 32-bit length and as many bytes: the child's folder, the files for its standard
// output and its errors, and its arguments, each ended by a NUL. The replies are the child's
// process number (32 bits), at once, and at its end its wait status and its peak memory in KiB (32
// bits each). The child leads a process group of its own. Numbers have the machine's byte order.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Main = int (*)(int, char **, char **);
using Start = int (*)(Main, int, char **, void (*)(), void (*)(), void (*)(), void *);

constexpr rlim_t maxMemory = rlim_t(8) << 30; // bytes of address space
constexpr const char *variable = "SYNCLINE_FORK_SERVER";

Main program = nullptr;

bool readAll(int from, void *to, std::size_t bytes) {
  for (char *at = static_cast<char *>(to); bytes > 0;) {
    const ssize_t got = read(from, at, bytes);
    if (got <= 0)
      return false;
    at += got, bytes -= std::size_t(got);
  }
  return true;
}

template <typename T> void reply(int to, T value) {
  if (write(to, &value, sizeof value) != ssize_t(sizeof value))
    _exit(1);
}

void redirect(const char *file, int flags, int descriptor) {
  const int opened = open(file, flags, 0600);
  if (opened < 0 || dup2(opened, descriptor) < 0)
    _exit(125);
  close(opened);
}

/// What the forked child does: it becomes the program, called with these words.
int call(std::vector<char *> words, char *name) {
  const rlimit memory{maxMemory, maxMemory}, noCore{0, 0};
  setpgid(0, 0);
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &noCore);
  if (chdir(words[0]) != 0)
    _exit(125);
  redirect("/dev/null", O_RDONLY, 0);
  redirect(words[1], O_WRONLY | O_CREAT | O_TRUNC, 1);
  redirect(words[2], O_WRONLY | O_CREAT | O_TRUNC, 2);
  std::vector<char *> arguments{name};
  arguments.insert(arguments.end(), words.begin() + 3, words.end());
  const int count = int(arguments.size());
  arguments.push_back(nullptr);
  std::exit(program(count, arguments.data(), environ));
}

[[noreturn]] void serve(int requests, int replies, char *name) {
  for (std::uint32_t bytes; readAll(requests, &bytes, sizeof bytes);) {
    std::string text(bytes, '\0');
    if (!readAll(requests, text.data(), bytes))
      break;
    std::vector<char *> words;
    for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1)
      words.push_back(&text[at]);
    const pid_t child = fork();
    if (child == 0) {
      close(requests);
      close(replies);
      call(std::move(words), name);
    }
    reply(replies, std::int32_t(child));
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    reply(replies, std::int32_t(status));
    reply(replies, std::int32_t(usage.ru_maxrss));
  }
  _exit(0);
}

int serveOrRun(int count, char **arguments, char **environment) {
  int requests = -1, replies = -1;
  const char *set = std::getenv(variable);
  if (!set || std::sscanf(set, "%d,%d", &requests, &replies) != 2)
    return program(count, arguments, environment);
  unsetenv(variable); // programs that the child starts run as usual
  unsetenv("LD_PRELOAD");
  serve(requests, replies, arguments[0]);
}

} // namespace

extern "C" int __libc_start_main(Main main, int count, char **arguments, void (*init)(),
                                 void (*fini)(), void (*loaderFini)(), void *stackEnd) {
  program = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(serveOrRun, count, arguments, init, fini, loaderFini, stackEnd);
}
