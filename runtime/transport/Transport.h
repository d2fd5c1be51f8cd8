// Messages between the ranks of one run: the interface that a network library implements for
// the collectives.
#pragma once

#include "syncline/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace syncline::transport {

/// A stream of messages from one rank to another. One thread at a time uses a link; different
/// threads may use different links.
///
/// Errors of both calls: peerLost, naming the rank at fault, which need not be the peer. An error
/// comes at the latest when no byte has moved for the link's time limit. After a failed call all
/// calls fail.
class Link {
public:
  virtual ~Link() = default;
  /// Returns when the bytes may be overwritten. Blocks while the network's buffers are full.
  virtual Status send(const void *data, std::size_t bytes) = 0;
  /// Returns when the next message, of exactly `bytes` bytes, has arrived.
  virtual Status receive(void *data, std::size_t bytes) = 0;
  /// Where send() rounds values, rounds them in place likewise, so that both ends hold the same.
  virtual void roundAsSent(void *, std::size_t) const {}
};

/// A number that both ends of a link compare with each message, as they compare its length. MPI
/// matches messages by their tags; here a tag that differs is an error. 0 stands for no tag.
struct MessageTag {
  std::atomic<std::uint8_t> present = 0;
  std::string (*meaning)(std::uint8_t tag) = nullptr; ///< for errors
};

/// One end of a link to be opened.
struct LinkEnd {
  int peer;
  bool sends;       ///< this rank sends, the peer receives
  std::string name; ///< distinguishes links between the same two ranks; equal at both ends
  /// A receiving end that waits without a limit, as a server does for requests. Nobody is taken to
  /// wait for the peer meanwhile.
  bool isPatient = false;
  /// Null where messages have no tag, at both ends.
  std::shared_ptr<const MessageTag> tag = {};
};

/// Bytes of messages, without the network's own headers.
struct Traffic {
  std::int64_t sent = 0, received = 0;
};

/// The ranks of a run.
class Transport {
public:
  /// send() never blocks for messages of at most this size, as long as at most two are under way.
  static constexpr std::size_t bufferedBytes = 32u << 10;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Opens this rank's ends of several links at once and returns when the other ends are open too.
  /// All ranks that take part call it at the same time. One thread at a time may call it.
  virtual Result<std::vector<std::unique_ptr<Link>>> open(std::span<const LinkEnd> ends) = 0;
  /// The bytes that all links of this rank have moved so far. May be called from any thread.
  virtual Traffic traffic() const = 0;
  /// Ends all calls of links that are under way, and all later ones, with errors. May be called
  /// from any thread.
  virtual void interrupt() {}
};

} // namespace syncline::transport
