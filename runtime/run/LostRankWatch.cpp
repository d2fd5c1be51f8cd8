// A thread that asks for the verdict.
#include "runtime/run/LostRankWatch.h"

#include "runtime/core/Guarded.h"
#include "runtime/core/RankNames.h"
#include "runtime/launch/Joining.h"

namespace syncline::run {

/// How often it asks.
static constexpr auto interval = std::chrono::milliseconds(200);
/// What the worker has to come to a message itself. The launcher waits longer than that.
static constexpr auto patience = std::chrono::seconds(2);

LostRankWatch::LostRankWatch(Worker watched) : worker(std::move(watched)) {
  if (worker.group)
    thread = std::thread(
        [this] { static_cast<void>(core::guarded([this] { return watch(), Status::ok(); })); });
}

LostRankWatch::~LostRankWatch() {
  {
    std::lock_guard lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

void LostRankWatch::watch() {
  const auto isEnd = [this] { return isOver; };
  std::unique_lock lock(mutex);
  Status verdict;
  while (verdict) {
    if (changed.wait_for(lock, interval, isEnd))
      return;
    verdict = worker.group->verdict();
  }
  if (changed.wait_for(lock, patience, isEnd))
    return;
  worker.release();
  launch::conclude("syncline-run",
                   Status::error(verdict.kind(), core::RankNames().of(worker.rank) + ": " +
                                                     verdict.message() + worker.whereabouts()),
                   worker.group);
}

} // namespace syncline::run
