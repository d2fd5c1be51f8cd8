// Signal handlers that only note the signal and pass it on.
#include "codegen/step/Interruption.h"

#include <atomic>
#include <csignal>
#include <iterator>

using namespace syncline::codegen;

namespace {

constexpr int caught[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction before[std::size(caught)];
std::atomic<int> signalled = 0, signals = 0, compiler = 0;
static_assert(std::atomic<int>::is_always_lock_free); // handlers may use lock-free atomics only

void note(int signal) {
  signalled = signal;
  ++signals;
  if (const int group = compiler)
    kill(-group, SIGTERM);
}

} // namespace

Interruption::Interruption() {
  signalled = signals = 0;
  struct sigaction action{};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(caught); ++i) {
    sigaction(caught[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN)
      sigaction(caught[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < std::size(caught); ++i)
    sigaction(caught[i], &before[i], nullptr);
  if (const int signal = signalled.exchange(0))
    raise(signal);
}

int Interruption::count() { return signals; }

void Interruption::setCompiler(int group) {
  compiler = group;
  // A signal that came before the group was known has not ended the compiler.
  if (group != 0 && signalled != 0)
    kill(-group, SIGTERM);
}
