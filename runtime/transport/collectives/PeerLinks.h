// A collective's links to other ranks, with a thread that sends while the collective receives.
//
// Ranks that send long messages in both directions could wait for each other in a circle. This
// cannot happen when all messages of a collective have one common order, and every rank keeps to it
// in its sends and in its receives: sender and receiver of the first unfinished message have both
// reached it. Each collective states its order.
#pragma once

#include "runtime/transport/Transport.h"
#include "runtime/transport/collectives/SendThread.h"
#include "syncline/Step.h"

#include <set>

namespace syncline::transport {

/// One thread at a time uses it.
class PeerLinks {
public:
  /// Opens links to the ranks `to` and from the ranks `from`. All ranks call it together with
  /// matching ends; `name` distinguishes collectives.
  static Result<std::unique_ptr<PeerLinks>> open(Transport &transport, const std::string &name,
                                                 const std::set<int> &to,
                                                 const std::set<int> &from);

  /// Begins a run whose messages have at most `longest` bytes. Short messages fit into the
  /// network's buffers and are sent without another thread.
  void begin(std::size_t longest);
  /// Sends in the order of the calls. The bytes must not change until finish() or waitUntilSent().
  /// For 0 bytes no message is sent or received, in this and the other calls.
  Status send(int peer, const void *data, std::size_t bytes);
  Status receive(int peer, void *data, std::size_t bytes);
  /// Receives a final sum where the rank's own part of it may still be queued for sending. The sum
  /// contains that part, so it cannot arrive before the part was sent.
  Status receiveSum(int peer, void *data, std::size_t bytes);
  /// Adds the peer's message to `into`, element by element. The type has a sum.
  Status receiveAndAdd(int peer, void *into, std::size_t bytes, ElementType type);
  /// As receiveAndAdd(), in two calls: receive into an internal buffer, then add. For bytes that
  /// are still being sent.
  Status receiveAside(int peer, std::size_t bytes);
  void addReceived(void *into, std::size_t bytes, ElementType type);

  /// Rounds this rank's copy as links round what they send, where they do. For values that this
  /// rank and a peer both add to what they receive of each other.
  void roundAsSent(void *data, std::size_t bytes) const;

  /// The number of messages handed to the sending thread.
  std::uint64_t pushed() const { return sender ? sender->pushed() : 0; }
  /// Waits until the first `count` messages of the sending thread are sent.
  Status waitUntilSent(std::uint64_t count) { return sender ? sender->waitFor(count) : Status(); }
  /// Ends the run and waits until everything is sent. After an error a peer may never receive; then
  /// the bytes belong to the links until these are closed.
  Status finish(Status sofar) { return sofar && !direct ? sender->flush() : sofar; }

private:
  PeerLinks() = default;
  // Links by rank; null for ranks without a link.
  std::vector<std::unique_ptr<Link>> to, from;
  std::vector<std::byte> landing;
  bool direct = true;
  std::unique_ptr<SendThread> sender; ///< exists from the first long message on
};

} // namespace syncline::transport
