// Sends on links while the caller receives on others: ranks that exchange long messages would lock
// up otherwise, since everybody's send waits for somebody's receive once the network's buffers are
// full.
#pragma once

#include "runtime/transport/Transport.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace syncline {

/// Sends in the order of push(), whatever the link. Methods are called by one thread.
class SendThread {
public:
  SendThread();
  /// Lets the message under way come to its end or time limit; drops those behind it.
  ~SendThread();

  /// Queues a message; the bytes stay as they are until it is sent. Links outlive this object.
  void push(Link &link, const void *data, std::size_t bytes);
  /// How many messages have been pushed; names the last one for waitFor().
  std::uint64_t pushed() const { return pushedCount; }
  /// Waits until the first `count` messages are sent; the first error so far. After an error
  /// nothing more is sent.
  Status waitFor(std::uint64_t count);
  /// Waits for all.
  Status flush() { return waitFor(pushedCount); }

private:
  struct Message {
    Link *link;
    const void *data;
    std::size_t bytes;
  };
  void work();

  std::uint64_t pushedCount = 0;
  std::mutex mutex;
  std::condition_variable queued, sent;
  std::deque<Message> queue; ///< the first is being sent
  std::uint64_t sentCount = 0;
  std::uint64_t awaited = ~std::uint64_t{0}; ///< the caller sleeps until as many are sent
  Status failure;
  bool stop = false;
  std::thread thread;
};

} // namespace syncline
