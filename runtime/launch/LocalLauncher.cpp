// Starting local ranks as child processes and waiting for them.
#include "runtime/launch/LocalLauncher.h"

#include "runtime/core/RankNames.h"
#include "runtime/launch/Identity.h"
#include "runtime/launch/Processors.h"
#include "runtime/launch/Starters.h"
#include "runtime/transport/RankConnections.h"
#include "runtime/transport/Socket.h"
#include "syncline/ChildProcess.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <unistd.h>

namespace syncline::launch {
namespace {

/// Seconds that ranks have to end by themselves after one has failed, and seconds until SIGKILL
/// after SIGTERM.
constexpr double graceSeconds = 5, afterTerm = 2;

/// The address at which local ranks meet.
constexpr const char *loopback = "127.0.0.1";

struct Child {
  std::optional<ChildProcess> process;
  std::FILE *output = nullptr; ///< stdout and stderr of a rank other than 0
  std::optional<ProcessEnd> end;
  bool failed() const { return end && !end->isSuccess(); }
  /// Whether the child stopped properly: after a signal, with a shell's exit code (128 + signal).
  bool stopped() const {
    return end &&
           (end->code == 128 + SIGINT || end->code == 128 + SIGTERM || end->code == 128 + SIGHUP);
  }
  bool wasKilled() const { return end && end->signal != 0; }
};

/// Whether the signal was ignored when the program started, as nohup arranges. The ranks ignore
/// it too.
bool isIgnored(int signal) {
  struct sigaction now{};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

class Launcher {
public:
  Launcher(const RunShape &shape, const std::vector<std::string> &arguments, const LocalLaunch &how)
      : shape(shape), names{shape.ranks}, arguments(arguments), how(how),
        children(shape.processes()) {}

  int run() {
    // All ranks are on this host, so the port must not be reachable from other hosts.
    Result<transport::Socket> socket = transport::Socket::listen(0, loopback);
    if (!socket) {
      std::fprintf(stderr, "%s: error: %s\n", program.c_str(), socket.status().message().c_str());
      return 1;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (int s : {SIGINT, SIGTERM, SIGHUP})
      if (!isIgnored(s))
        sigaddset(&signals, s);
    sigprocmask(SIG_BLOCK, &signals, &before);
    for (int rank = 0; rank < size() && firstFailed < 0; ++rank)
      start(rank, *socket);
    socket->close();
    supervise();
    return report();
  }

private:
  int size() const { return static_cast<int>(children.size()); }

  void start(int rank, const transport::Socket &listener) {
    Child &child = children[rank];
    const bool computes = rank < shape.ranks;
    ChildProgram program{.path = "/proc/self/exe", .arguments = arguments};
    program.variables = variablesOf(rank, listener);
    program.blocked = &before;
    program.deathSignal = SIGTERM;
    if (how.pins && computes)
      program.processors = processorBlock(rank, how.threads);
    if (rank > 0 && (child.output = std::tmpfile()))
      program.output = program.errors = "/proc/self/fd/" + std::to_string(fileno(child.output));
    fcntl(listener.get(), F_SETFD, rank == 0 ? 0 : FD_CLOEXEC); // rank 0 inherits it
    Result<ChildProcess> started = ChildProcess::start(program);
    if (started)
      child.process.emplace(std::move(*started));
    else
      giveUp(rank, started.status());
  }

  /// The machine cannot start this rank. The ranks after it are not tried, and the ranks before it
  /// end at once, so that the machine is free again.
  void giveUp(int rank, const Status &why) {
    std::fprintf(stderr, "%s: error: cannot start %s of %d: %s\n", program.c_str(),
                 names.of(rank).c_str(), size(), why.message().c_str());
    for (int other = rank; other < size(); ++other)
      children[other].end = ProcessEnd{.code = 1};
    firstFailed = rank;
    signalAll(SIGTERM);
    refused = true;
  }

  /// The environment variables of a rank or server.
  decltype(ChildProgram::variables) variablesOf(int rank, const transport::Socket &listener) const {
    const bool computes = rank < shape.ranks;
    const int perNode = !computes                ? shape.servers
                        : shape.ranksPerNode > 0 ? shape.ranksPerNode
                                                 : shape.ranks;
    const char *givenJob = std::getenv(jobVariable);
    decltype(ChildProgram::variables) variables{
        {"RANK", std::to_string(rank)},
        {"WORLD_SIZE", std::to_string(size())},
        {"LOCAL_RANK", std::to_string((computes ? rank : rank - shape.ranks) % perNode)},
        {"LOCAL_WORLD_SIZE", std::to_string(perNode)},
        {machineRankVariable, std::to_string(rank)},
        {jobVariable, givenJob ? givenJob : job},
        {secretVariable, secret},
        {"MASTER_ADDR", loopback},
        {"MASTER_PORT", std::to_string(listener.localPort())},
        {"GLOO_SOCKET_IFNAME", {}}, // local ranks meet on the loopback interface
        {listenerVariable, {}}};
    for (const std::string &name : starterVariables())
      variables.insert({name, {}});
    if (rank == 0)
      variables[listenerVariable] = std::to_string(listener.get());
    return variables;
  }

  void collect() {
    for (int rank = 0; rank < size(); ++rank) {
      Child &c = children[rank];
      if (!c.end)
        c.end = c.process->waitFor(std::chrono::milliseconds(0));
      if (c.failed() && !isSpared(rank) && (firstFailed < 0 || isCauseBefore(c)))
        firstFailed = rank;
    }
  }

  /// Whether the end of `c` explains more than that of the rank which was reaped first: a killed
  /// rank is the cause even when the ranks that lost it were reaped earlier, and one that has
  /// stopped properly is no failure.
  bool isCauseBefore(const Child &c) const {
    const Child &first = children[firstFailed];
    if (first.stopped())
      return !c.stopped();
    return c.wasKilled() && !first.wasKilled() && !hasSignalled;
  }

  /// Whether the run goes on without a worker that has ended: one that was killed, or that the
  /// others have given up.
  bool isSpared(int rank) const {
    const Child &c = children[rank];
    return shape.sparesWorkers && rank > 0 && rank < shape.ranks &&
           (c.wasKilled() || c.end->code == 1);
  }

  bool anyRuns() const {
    for (const Child &c : children)
      if (!c.end)
        return true;
    return false;
  }

  void signalTo(const Child &c, int signal) {
    hasSignalled = true;
    if (c.process)
      c.process->send(signal);
  }

  void signalAll(int signal) {
    for (const Child &c : children)
      signalTo(c, signal);
  }

  /// A closed terminal and its shell both send SIGHUP, as systemd does behind SIGTERM.
  bool isCopy(int signal) const {
    return signal == SIGHUP && interrupted &&
           core::Clock::now() - interruptedAt < std::chrono::seconds(1);
  }

  void supervise() {
    core::Deadline end = core::deadlineIn(1e8);
    bool ending = false, terminated = false, allTold = false;
    for (collect(); anyRuns(); collect()) {
      // Rank 0 ends first: it would name others, which end by the launcher's signal, as lost.
      if (terminated && !allTold && children[0].end) {
        allTold = true;
        signalAll(SIGTERM);
      }
      // Ranks that stop properly may leave before rank 0 has saved.
      if (firstFailed >= 0 && !children[firstFailed].stopped() && !ending) {
        ending = true;
        end = core::deadlineIn(graceSeconds);
      }
      auto left = std::min(core::remaining(end), std::chrono::milliseconds(1000));
      timespec wait{left.count() / 1000, left.count() % 1000 * 1000000};
      int signal = sigtimedwait(&signals, nullptr, &wait);
      if (signal > 0 && signal != SIGCHLD && !isCopy(signal)) {
        // After the first signal, ranks finish the step and save.
        const bool mayFinish = !interrupted && !ending;
        interrupted = signal;
        signalAll(signal);
        if (mayFinish) {
          interruptedAt = core::Clock::now();
          continue;
        }
        ending = terminated = allTold = true;
        end = core::deadlineIn(afterTerm);
      } else if (core::Clock::now() >= end) {
        // A stopped process receives SIGTERM only when it continues.
        if (terminated)
          signalAll(SIGKILL);
        else
          signalTo(children[0], SIGTERM);
        end = terminated ? core::deadlineIn(1e8) : core::deadlineIn(afterTerm);
        terminated = true;
      }
    }
  }

  void show(int rank, std::FILE *output) const {
    std::rewind(output);
    char line[4096];
    bool fresh = true;
    while (std::fgets(line, sizeof line, output)) {
      if (fresh)
        std::fprintf(stderr, "[%s] ", names.of(rank).c_str());
      std::fputs(line, stderr);
      fresh = std::strchr(line, '\n') != nullptr;
    }
  }

  /// What another rank says, where rank 0 could not.
  void showSurvivor() const {
    for (int rank = 1; rank < size(); ++rank) {
      const Child &c = children[rank];
      if (c.failed() && !c.wasKilled() && !isSpared(rank) && c.output)
        return show(rank, c.output);
    }
  }

  int report() {
    // Rank 0 has said where it stopped, or was done before the signal came.
    const auto isProper = [](const Child &c) { return c.stopped() || c.end->isSuccess(); };
    if (interrupted && std::ranges::all_of(children, isProper))
      return children[0].end->code;
    if (interrupted) {
      std::fprintf(stderr, "%s: ended by signal %d\n", program.c_str(), interrupted);
      return 128 + interrupted;
    }
    if (firstFailed < 0)
      return 0;
    if (refused)
      return 1;
    const Child &first = children[firstFailed];
    const bool told = children[0].end->code != 0;
    if (firstFailed > 0 && !told && first.output)
      show(firstFailed, first.output);
    if (firstFailed == 0 && first.wasKilled())
      showSurvivor();
    // When rank 0 has printed the reason, no other output is shown.
    if (first.wasKilled() || (firstFailed > 0 && !told))
      std::fprintf(stderr, "%s: %s %s\n", program.c_str(), names.of(firstFailed).c_str(),
                   first.end->text().c_str());
    if (!first.wasKilled())
      return first.end->code;
    constexpr int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    return std::ranges::find(crashes, first.end->signal) != std::end(crashes) ? 3 : 1;
  }

  const RunShape shape;
  const core::RankNames names;
  const std::vector<std::string> &arguments;
  const LocalLaunch how;
  /// The job's name, unless the user has given one.
  const std::string job =
      "local run " + std::to_string(getpid()) + "." +
      std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
  /// What ranks greet each other with, so that other users of the machine cannot join.
  const std::string secret = transport::makeSecret();
  /// The program's name for messages.
  const std::string program = std::filesystem::path(arguments.front()).filename();
  std::vector<Child> children;
  sigset_t signals, before;
  int firstFailed = -1, interrupted = 0;
  core::Clock::time_point interruptedAt{}; ///< when the first signal came
  bool hasSignalled = false;               ///< ranks may have ended by signals of this process
  bool refused = false;                    ///< a rank could not be started; already reported
};

} // namespace

int launchLocally(const RunShape &shape, const std::vector<std::string> &arguments,
                  const LocalLaunch &how) {
  return Launcher(shape, arguments, how).run();
}

} // namespace syncline::launch
