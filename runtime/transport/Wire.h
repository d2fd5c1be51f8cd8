// What carries the messages of one link: the interface that each kind of links implements.
#pragma once

#include "syncline/Status.h"

#include <cstddef>

namespace syncline::transport {

/// A one-way stream of messages over a connection whose other end is known. One end sends, the
/// other receives. One thread at a time uses it; WatchedLink makes a Link of it.
///
/// Errors of both calls: peerLost with what was seen of the connection, where the peer or the
/// network ended it or moved no byte for the time limit; badInput for a message of another length,
/// which names the peer, and for what failed in this process, which names nobody.
class Wire {
public:
  virtual ~Wire() = default;
  /// Returns when the bytes may be overwritten.
  virtual Status send(const void *data, std::size_t bytes) = 0;
  /// Returns when the next message has arrived. Not a byte of one of another length is written.
  virtual Status receive(void *data, std::size_t bytes) = 0;
  /// Ends a call that another thread has under way, and all later ones, with an error.
  virtual void interrupt() {}
};

} // namespace syncline::transport
