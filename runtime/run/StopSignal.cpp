// The thread that receives signals.
#include "runtime/run/StopSignal.h"

#include "runtime/core/Deadline.h"

#include <atomic>
#include <csignal>
#include <thread>
#include <unistd.h>

namespace syncline::run {
namespace {

std::atomic<bool> holds = false, endsLater = true;
std::atomic<int> noted = 0;

/// Ends the process by the signal's default action.
void endBy(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
}

void waitForSignals(sigset_t signals, pid_t parent) {
  core::Clock::time_point first{};
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0)
      continue;
    const auto now = core::Clock::now();
    if (!holds || getppid() != parent)
      endBy(signal);
    else if (noted == 0)
      first = now;
    else if (endsLater && now - first >= std::chrono::seconds(1))
      endBy(signal);
    int none = 0;
    noted.compare_exchange_strong(none, signal);
  }
}

} // namespace

void StopSignal::listen() {
  sigset_t signals;
  sigemptyset(&signals);
  bool isAny = false;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN)
      continue;
    sigaddset(&signals, signal);
    isAny = true;
  }
  if (!isAny)
    return;
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(waitForSignals, signals, getppid()).detach();
}

void StopSignal::hold(Further further) {
  endsLater = further == Further::ends;
  holds = true;
}

int StopSignal::received() { return noted; }

} // namespace syncline::run
