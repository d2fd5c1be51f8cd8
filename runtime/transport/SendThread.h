// Sends on a link while the caller receives on another: a ring would lock up otherwise, since
// everybody's send waits for somebody's receive once the network's buffers are full.
#pragma once

#include "runtime/transport/Transport.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace syncline {

/// push() and flush() are called by one thread.
class SendThread {
public:
  explicit SendThread(Link &link);
  ~SendThread();

  /// Queues a message; the bytes stay as they are until flush() returns.
  void push(const void *data, std::size_t bytes);
  /// Waits until all queued messages are sent; their first error.
  Status flush();

private:
  struct Message {
    const void *data;
    std::size_t bytes;
  };
  void work();

  Link &link;
  std::mutex mutex;
  std::condition_variable pushed, drained;
  std::deque<Message> queue; ///< the first is being sent
  Status failure;
  bool stop = false;
  std::thread thread;
};

} // namespace syncline
