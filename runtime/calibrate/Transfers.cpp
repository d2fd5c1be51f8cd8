// Threads that send while another computes.
#include "runtime/calibrate/Transfers.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <thread>

namespace syncline::calibrate {
namespace {

/// Fewer load operations than this do not tell what one of them takes.
constexpr int fewestLoads = 10;
/// Bytes that are enough to use a burst up.
constexpr std::int64_t longestWarmUp = 1 << 20;

/// The threads of one sample.
class Carriers {
public:
  Carriers(Team &team, std::span<const Transfer> atOnce, Repetitions times)
      : team(team), times(times), states(atOnce.size()), pending(static_cast<int>(atOnce.size())),
        warm(static_cast<int>(atOnce.size())) {
    for (std::size_t i = 0; i < atOnce.size(); ++i)
      threads.emplace_back([this, i, transfer = atOnce[i]] { carry(i, transfer); });
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
  /// Of one run: from the common start to the end of the last, by the number of runs.
  double seconds() const {
    Clock::time_point first = Clock::time_point::max(), last = Clock::time_point::min();
    for (const State &state : states) {
      first = std::min(first, state.begin);
      last = std::max(last, state.end);
    }
    return std::chrono::duration<double>(last - first).count() / times.runs;
  }

private:
  struct State {
    Status status;
    Clock::time_point begin, end;
  };

  void repeat(const Transfer &transfer, int count, Status &status) {
    for (int run = 0; run < count && status; ++run)
      status = transfer.by->run(transfer.bytes);
  }

  void carry(std::size_t index, const Transfer &transfer) {
    State &own = states[index];
    if (index == 0) {
      own.status = team.align();
      isAligned = true;
      isAligned.notify_all();
    } else {
      isAligned.wait(false);
    }
    repeat({transfer.by, std::min(transfer.bytes, longestWarmUp)}, times.warmUps, own.status);
    warm.arrive_and_wait();
    own.begin = Clock::now();
    repeat(transfer, times.runs, own.status);
    own.end = Clock::now();
    pending.fetch_sub(1, std::memory_order_release);
  }

  Team &team;
  const Repetitions times;
  std::vector<State> states;
  std::atomic<int> pending;
  std::atomic<bool> isAligned = false;
  std::barrier<> warm;
  std::vector<std::thread> threads;
};

} // namespace

Result<Timing> timeTransfers(Team &team, std::span<const Transfer> atOnce, Repetitions times,
                             Device *load) {
  Carriers carriers(team, atOnce, times);
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
  Result<double> seconds = team.slowest(carriers.seconds());
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

Result<double> timeLoad(Team &team, Device &device) {
  std::vector<double> seconds;
  for (int sample = 0; sample < 3; ++sample) {
    if (Status s = team.align(); !s)
      return s;
    auto start = Clock::now();
    for (int load = 0; load < fewestLoads; ++load)
      if (Status s = device.run(device.load()); !s)
        return s;
    Result<double> slowest = team.slowest(secondsSince(start) / fewestLoads);
    if (!slowest)
      return slowest;
    seconds.push_back(*slowest);
  }
  return summarize(seconds).median;
}

Repetitions Repetitions::of(std::int64_t bytes, double fastest, double last) {
  constexpr double half = 5e-3, most = 50;
  constexpr std::int64_t burst = 2 * longestWarmUp;
  auto times = [&](double seconds) {
    return static_cast<int>(std::ceil(std::min(half / std::max(seconds, 1e-9), most)));
  };
  return {static_cast<int>(std::clamp<std::int64_t>(burst / bytes, 1, times(fastest))),
          times(last)};
}

} // namespace syncline::calibrate
