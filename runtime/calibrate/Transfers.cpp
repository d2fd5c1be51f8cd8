// Threads that send, told of each message by another.
#include "runtime/calibrate/Transfers.h"

#include "runtime/core/Guarded.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace syncline::calibrate {
namespace {

/// A thread for one transfer, which sleeps until it is handed a message, as a channel's does.
class Carrier {
public:
  explicit Carrier(const Transfer &transfer) : transfer(transfer), thread([this] { work(); }) {}
  ~Carrier() {
    {
      std::lock_guard lock(mutex);
      isOver = true;
    }
    handed.notify_one();
    thread.join();
  }
  Carrier(const Carrier &) = delete;
  Carrier &operator=(const Carrier &) = delete;

  /// Hands over a message of this transfer, of at most `most` bytes.
  void hand(std::int64_t most) {
    {
      std::lock_guard lock(mutex);
      bytes = std::min(transfer.bytes, most);
      isUnderWay = true;
    }
    handed.notify_one();
  }

  /// Waits until it is through.
  Status wait() {
    std::unique_lock lock(mutex);
    through.wait(lock, [this] { return !isUnderWay; });
    return status;
  }

private:
  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      handed.wait(lock, [this] { return isOver || isUnderWay; });
      if (!isUnderWay)
        return;
      lock.unlock();
      const Status s = core::guarded([this] { return transfer.by->run(bytes); });
      lock.lock();
      status = s;
      isUnderWay = false;
      through.notify_one();
    }
  }

  const Transfer transfer;
  std::mutex mutex;
  std::condition_variable handed, through;
  std::int64_t bytes = 0;
  bool isUnderWay = false, isOver = false;
  Status status;
  std::thread thread;
};

using Carriers = std::vector<std::unique_ptr<Carrier>>;

/// `count` times all transfers at once; each time begins when the time before has ended here.
Status repeat(const Carriers &carriers, int count, std::int64_t most) {
  Status s;
  for (int run = 0; run < count && s; ++run) {
    for (const auto &carrier : carriers)
      carrier->hand(most);
    for (const auto &carrier : carriers)
      if (Status own = carrier->wait(); !own)
        s = own;
  }
  return s;
}

} // namespace

Result<double> timeTransfers(Team &team, std::span<const Transfer> atOnce, Repetitions times) {
  Carriers carriers;
  for (const Transfer &transfer : atOnce)
    carriers.push_back(std::make_unique<Carrier>(transfer));
  SYNCLINE_TRY(team.align());
  SYNCLINE_TRY(repeat(carriers, times.warmUps, longestWarmUp));
  const auto begin = core::Clock::now();
  SYNCLINE_TRY(repeat(carriers, times.runs, std::numeric_limits<std::int64_t>::max()));
  return team.slowest(core::secondsSince(begin) / times.runs);
}

} // namespace syncline::calibrate
