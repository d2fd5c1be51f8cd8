// Ending a worker that goes on computing although a rank is lost.
#pragma once

#include "runtime/transport/Group.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace syncline::run {

/// A worker learns of a lost rank where it waits for a message, and names bucket and step. Where
/// the next message is far away, this thread says who was lost and what the worker does, and ends
/// the process. It lives while the worker has nothing to save.
class LostRankWatch {
public:
  struct Worker {
    transport::Group *group; ///< null in a run of one rank, in which nothing is watched
    int rank;
    std::function<std::string()> whereabouts; ///< behind who was lost: " in .. step 5; .."
    std::function<void()> release;            ///< called before the process ends
  };
  explicit LostRankWatch(Worker worker);
  /// Waits where the process is about to end, so that one message is printed.
  ~LostRankWatch();
  LostRankWatch(const LostRankWatch &) = delete;

private:
  void watch();

  const Worker worker;
  std::mutex mutex;
  std::condition_variable changed;
  bool isOver = false;
  std::thread thread;
};

} // namespace syncline::run
