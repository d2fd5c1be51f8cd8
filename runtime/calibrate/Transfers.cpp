// Threads that carry messages.
#include "runtime/calibrate/Transfers.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>

namespace syncline::calibrate {
namespace {

/// The threads of one sample.
class Carriers {
public:
  Carriers(Team &team, std::span<const Transfer> atOnce, Repetitions times)
      : team(team), times(times), states(atOnce.size()), warm(static_cast<int>(atOnce.size())) {
    for (std::size_t i = 0; i < atOnce.size(); ++i)
      threads.emplace_back([this, i, transfer = atOnce[i]] { carry(i, transfer); });
  }
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
  /// Seconds of one run: from the common start to the last end, divided by the number of runs.
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
  }

  Team &team;
  const Repetitions times;
  std::vector<State> states;
  std::atomic<bool> isAligned = false;
  std::barrier<> warm;
  std::vector<std::thread> threads;
};

} // namespace

Result<double> timeTransfers(Team &team, std::span<const Transfer> atOnce, Repetitions times) {
  Carriers carriers(team, atOnce, times);
  carriers.join();
  Status s = carriers.status();
  return s ? team.slowest(carriers.seconds()) : s;
}

} // namespace syncline::calibrate
