// Messages between the ranks of one run; what a network library has to offer to the collectives.
#pragma once

#include "syncline/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace syncline {

/// A stream of messages from one rank to one other. Used by one thread at a time; different links
/// by different threads.
///
/// Errors of both calls: peerLost, naming the rank whose fault it is, which need not be the peer.
/// They come at the latest when nothing has moved for the link's time limit. Once a call has
/// failed, all fail.
class Link {
public:
  virtual ~Link() = default;
  /// Returns when the bytes may be overwritten. Blocks while the network's buffers are full.
  virtual Status send(const void *data, std::size_t bytes) = 0;
  /// Returns when the next message, of exactly `bytes` bytes, is there.
  virtual Status receive(void *data, std::size_t bytes) = 0;
};

/// One end of a link to be opened.
struct LinkEnd {
  int peer;
  bool sends;       ///< this rank sends, the peer receives
  std::string name; ///< tells links between the same two ranks apart; the same at both ends
};

/// Bytes of messages, without the network's own headers.
struct Traffic {
  std::int64_t sent = 0, received = 0;
};

/// The ranks of a run.
class Transport {
public:
  /// Messages up to this size never block in send() as long as at most two are under way.
  static constexpr std::size_t bufferedBytes = 32u << 10;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Opens this rank's ends of several links at once; returns when the other ends are open too.
  /// All ranks that take part call it at the same time. One thread at a time.
  virtual Result<std::vector<std::unique_ptr<Link>>> open(std::span<const LinkEnd> ends) = 0;
  /// What all of this rank's links have moved so far. From any thread.
  virtual Traffic traffic() const = 0;
};

} // namespace syncline
