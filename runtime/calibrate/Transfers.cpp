// Threads that send while another computes.
#include "runtime/calibrate/Transfers.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

namespace syncline::calibrate {
namespace {

/// Fewer load operations than this do not tell what one of them takes.
constexpr int fewestLoads = 10;

/// The threads of one sample.
class Carriers {
public:
  Carriers(Team &team, std::span<const Transfer> atOnce, int runs)
      : team(team), states(atOnce.size()), pending(static_cast<int>(atOnce.size())) {
    for (std::size_t i = 0; i < atOnce.size(); ++i)
      threads.emplace_back([this, i, transfer = atOnce[i], runs] { carry(i, transfer, runs); });
  }
  bool isDone() const { return pending.load(std::memory_order_acquire) == 0; }
  void join() {
    for (std::thread &thread : threads)
      thread.join();
  }
  Status status() const {
    for (const State &state : states)
      if (!state.status)
        return state.status;
    return Status::ok();
  }
  /// From the common start to the end of the last.
  double seconds() const {
    Clock::time_point last = begin;
    for (const State &state : states)
      last = std::max(last, state.end);
    return std::chrono::duration<double>(last - begin).count();
  }

private:
  struct State {
    Status status;
    Clock::time_point end;
  };

  void carry(std::size_t index, const Transfer &transfer, int runs) {
    State &own = states[index];
    if (index == 0) {
      own.status = team.align();
      begin = Clock::now();
      hasBegun = true;
      hasBegun.notify_all();
    } else {
      hasBegun.wait(false);
    }
    for (int run = 0; run < runs && own.status; ++run)
      own.status = transfer.by->run(transfer.bytes);
    own.end = Clock::now();
    pending.fetch_sub(1, std::memory_order_release);
  }

  Team &team;
  std::vector<State> states;
  std::atomic<int> pending;
  std::atomic<bool> hasBegun = false;
  Clock::time_point begin;
  std::vector<std::thread> threads;
};

} // namespace

Result<Timing> timeTransfers(Team &team, std::span<const Transfer> atOnce, int runs, Device *load) {
  Carriers carriers(team, atOnce, runs);
  Status computed;
  int loads = 0;
  auto start = Clock::now();
  for (; load && computed && !carriers.isDone(); ++loads)
    computed = load->run(load->load());
  const double computing = loads >= fewestLoads ? secondsSince(start) / loads : 0;
  carriers.join();
  if (Status s = carriers.status(); !s)
    return s;
  if (!computed)
    return computed;
  Result<double> seconds = team.slowest(carriers.seconds() / runs);
  if (!seconds)
    return seconds.status();
  if (!load)
    return Timing{*seconds, 0};
  Result<std::vector<double>> all = team.share(computing);
  if (!all)
    return all.status();
  const bool isKnown = *std::min_element(all->begin(), all->end()) > 0;
  return Timing{*seconds, isKnown ? *std::max_element(all->begin(), all->end()) : 0};
}

Result<double> timeLoad(Team &team, Device &device, int runs) {
  if (Status s = team.align(); !s)
    return s;
  auto start = Clock::now();
  for (int run = 0; run < runs; ++run)
    if (Status s = device.run(device.load()); !s)
      return s;
  return team.slowest(secondsSince(start) / runs);
}

int runsFor(double seconds) {
  constexpr double sample = 1e-3;
  constexpr double most = 20;
  return static_cast<int>(std::clamp(std::ceil(sample / std::max(seconds, 1e-9)), 1.0, most));
}

} // namespace syncline::calibrate
