// Starting syncline-run and looking at it.
#include "Processes.h"

#include "TinyPlan.h"
#include "runtime/transport/Socket.h"
#include "tests/support/Patience.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace syncline::testing {

using test::eventually, test::patience;

/// In a new process: what a shell gives a program in the foreground, whatever tests have left.
static void resetSignals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD})
    ::signal(number, SIG_DFL);
}

Process::Process(const std::vector<std::string> &arguments,
                 const std::map<std::string, std::string> &environment) {
  std::string pattern = (std::filesystem::temp_directory_path() / "syncline-log-XXXXXX").string();
  const int fd = mkostemp(pattern.data(), O_APPEND | O_CLOEXEC);
  EXPECT_GE(fd, 0) << pattern;
  log = pattern;
  pid = fork();
  if (pid != 0) {
    close(fd);
    return;
  }
  resetSignals();
  unsetenv("GLOO_SOCKET_IFNAME");
  for (const auto &[name, value] : environment)
    setenv(name.c_str(), value.c_str(), 1);
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(fd, 1);
  dup2(fd, 2);
  std::vector<char *> argv{const_cast<char *>(SYNCLINE_RUN)};
  for (const std::string &a : arguments)
    argv.push_back(const_cast<char *>(a.c_str()));
  argv.push_back(nullptr);
  execv(SYNCLINE_RUN, argv.data());
  _exit(127);
}

Process::~Process() {
  if (!ended) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  std::filesystem::remove(log);
}

void Process::signal(int number) const { kill(pid, number); }

void Process::stop() const {
  signal(SIGSTOP);
  siginfo_t found{};
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(pid), &found, WSTOPPED | WEXITED | WNOWAIT), 0);
}

bool Process::hasEnded() const {
  siginfo_t found{};
  return ended ||
         (waitid(P_PID, static_cast<id_t>(pid), &found, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          found.si_pid == pid);
}

int Process::wait() {
  int status = 0;
  if (eventually([&] { return waitpid(pid, &status, WNOHANG) == pid; })) {
    ended = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  ADD_FAILURE() << "still running after " << patience << " s; its output: " << output();
  return -1000;
}

void Process::waitForOutput(const std::string &text) const {
  bool isThere = false;
  const auto look = [&] {
    const bool isLast = hasEnded();
    isThere = output().find(text) != std::string::npos;
    return isThere || isLast;
  };
  eventually(look);
  EXPECT_TRUE(isThere) << "no '" << text << "' in " << output();
}

std::string Process::output() const { return readFile(log); }

std::vector<int> Process::children() const {
  const std::string own = std::to_string(pid);
  std::ifstream list("/proc/" + own + "/task/" + own + "/children");
  return {std::istream_iterator<int>(list), {}};
}

Outcome runToEnd(const std::vector<std::string> &arguments,
                 const std::map<std::string, std::string> &environment) {
  Process process(arguments, environment);
  const int code = process.wait();
  return {code, process.output()};
}

/// Binds a socket to a port, or to one that the kernel chooses for 0, and keeps it until this
/// process ends. Returns the port, or 0 where somebody has it. The socket does not listen. With
/// SO_REUSEADDR on both, a listener that names the port gets it, as a run's rank 0 does. It is set
/// behind bind(), so that two holders of one port are refused.
static int bindPort(int port) {
  transport::Socket held(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(held.get(), reinterpret_cast<const sockaddr *>(&place), sizeof place) != 0)
    return 0;
  const int on = 1;
  setsockopt(held.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int bound = held.localPort();
  held.release();
  return bound;
}

int freePort() {
  const int port = bindPort(0);
  EXPECT_GT(port, 0) << "no free port";
  return port;
}

bool holdPort(int port) { return bindPort(port) == port; }

} // namespace syncline::testing
