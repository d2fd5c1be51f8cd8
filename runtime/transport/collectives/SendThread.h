// A thread that sends on links while the caller receives on others. Without it, ranks that exchange
// long messages would deadlock: once the network's buffers are full, every rank's send waits for
// another rank's receive.
#pragma once

#include "runtime/transport/Transport.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace syncline::transport {

/// Sends in the order of push(), across all links. One thread calls the methods.
class SendThread {
public:
  SendThread();
  /// Waits until the message under way is sent or reaches its time limit; drops the queued ones.
  ~SendThread();

  /// Queues a message. The bytes must not change until it is sent. Links outlive this object.
  void push(Link &link, const void *data, std::size_t bytes);
  /// The number of pushed messages, to be passed to waitFor().
  std::uint64_t pushed() const { return pushedCount; }
  /// Waits until the first `count` messages are sent. Returns the first error so far; after an
  /// error nothing more is sent.
  Status waitFor(std::uint64_t count);
  /// Waits until all messages are sent.
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
  std::deque<Message> queue; ///< the first message is being sent
  std::uint64_t sentCount = 0;
  std::uint64_t awaited = ~std::uint64_t{0}; ///< the caller sleeps until so many are sent
  Status failure;
  bool stop = false;
  std::thread thread;
};

} // namespace syncline::transport
