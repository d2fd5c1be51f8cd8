// Starting syncline-run and looking at it.
#include "Processes.h"

#include "TinyPlan.h"
#include "runtime/transport/Socket.h"

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace syncline::testing {

using namespace core;

Process::Process(const std::vector<std::string> &arguments,
                 const std::map<std::string, std::string> &environment) {
  std::string pattern = (std::filesystem::temp_directory_path() / "syncline-log-XXXXXX").string();
  int fd = mkostemp(pattern.data(), O_APPEND);
  log = pattern;
  pid = fork();
  if (pid != 0) {
    close(fd);
    return;
  }
  for (const char *name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "SLURM_PROCID",
                           "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "GLOO_SOCKET_IFNAME"})
    unsetenv(name);
  for (const auto &[name, value] : environment)
    setenv(name.c_str(), value.c_str(), 1);
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

int Process::wait(double seconds) {
  int status = 0;
  for (Deadline end = deadlineIn(seconds); Clock::now() < end;) {
    if (waitpid(pid, &status, WNOHANG) == pid) {
      ended = true;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ADD_FAILURE() << "still running after " << seconds << " s; its output: " << output();
  return -1000;
}

void Process::waitForOutput(const std::string &text, double seconds) const {
  for (Deadline end = deadlineIn(seconds); Clock::now() < end;) {
    if (output().find(text) != std::string::npos)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "no '" << text << "' in " << output();
}

std::string Process::output() const { return readFile(log); }

Outcome runToEnd(const std::vector<std::string> &arguments,
                 const std::map<std::string, std::string> &environment, double seconds) {
  Process process(arguments, environment);
  int code = process.wait(seconds);
  return {code, process.output()};
}

/// Takes the name under which tests/support/harness.py marks a port, too. It is this process's own
/// until it ends.
static bool markPort(int port) {
  transport::Socket mark(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string text = "syncline-test-port-" + std::to_string(port);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  text.copy(name.sun_path + 1, sizeof name.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  if (bind(mark.get(), reinterpret_cast<const sockaddr *>(&name), size) != 0)
    return false;
  mark.release();
  return true;
}

int freePort() {
  constexpr int lowest = 10000;
  int firstEphemeral = 32768;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> firstEphemeral;
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> pairs(0, (firstEphemeral - lowest) / 2 - 1);
  for (int attempt = 0; attempt < 1000; ++attempt)
    if (const int port = lowest + 2 * pairs(random);
        markPort(port) && transport::Socket::listen(port))
      return port;
  ADD_FAILURE() << "no free port from " << lowest << " to " << firstEphemeral;
  return 0;
}

} // namespace syncline::testing
