// A collective's links to other ranks, and the thread that sends while the collective receives.
//
// Whoever sends long messages in both directions has to fear a circle of ranks that wait for each
// other. There is none where all messages of a collective stand in one order, which every rank
// keeps in its sends and in its receives: the first message that is not through has a sender and a
// receiver that are at it. Each collective states its order.
#pragma once

#include "runtime/transport/Transport.h"
#include "runtime/transport/collectives/SendThread.h"
#include "syncline/Step.h"

#include <set>

namespace syncline {

/// One thread at a time.
class PeerLinks {
public:
  /// Opens links to the ranks `to` and from the ranks `from`. All ranks together, each naming the
  /// other side's matching ends; `name` tells collectives apart.
  static Result<std::unique_ptr<PeerLinks>> open(Transport &transport, const std::string &name,
                                                 const std::set<int> &to,
                                                 const std::set<int> &from);

  /// Begins a run whose messages have at most `longest` bytes: short ones fit into the network's
  /// buffers, no other thread needs to send them.
  void begin(std::size_t longest);
  /// Sends in the order of the calls; the bytes stay as they are until finish() or waitUntilSent().
  /// Nothing is sent for 0 bytes, here and in the other calls.
  Status send(int peer, const void *data, std::size_t bytes);
  Status receive(int peer, void *data, std::size_t bytes);
  /// into[i] += what the peer sends; the type has a sum.
  Status receiveAndAdd(int peer, void *into, std::size_t bytes, ElementType type);
  /// The same in two calls, for bytes that are still being sent: receive into `landing`, then add.
  Status receiveAside(int peer, std::size_t bytes);
  void addReceived(void *into, std::size_t bytes, ElementType type);

  /// How many messages have been handed to the thread that sends.
  std::uint64_t pushed() const { return sender ? sender->pushed() : 0; }
  /// Waits until the first `count` of these are sent.
  Status waitUntilSent(std::uint64_t count) { return sender ? sender->waitFor(count) : Status(); }
  /// Ends the run: waits until everything is sent. After an error somebody may never receive;
  /// then the bytes belong to the links until they are closed.
  Status finish(Status sofar) { return sofar && !direct ? sender->flush() : sofar; }

private:
  PeerLinks() = default;
  // By rank; null where there is no link.
  std::vector<std::unique_ptr<Link>> to, from;
  std::vector<std::byte> landing;
  bool direct = true;
  std::unique_ptr<SendThread> sender; ///< from the first long message on
};

} // namespace syncline
