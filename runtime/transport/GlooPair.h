// A Gloo pair over an existing connection.
#pragma once

#include "runtime/transport/Socket.h"

#include <memory>
#include <string>

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>

namespace syncline::transport {

/// One end of a connection as a pair in Gloo's synchronous mode. By itself a Gloo pair listens on
/// its own port and takes the first connection for its peer, so that a port scanner could end a run
/// that starts; and it cannot use a connection that was made elsewhere. Therefore the pair is first
/// connected to a socket of this process over loopback. Then `connection`, whose other end is
/// known, replaces the pair's socket: in synchronous mode a pair only reads and writes its file
/// descriptor. Used by one thread at a time.
class GlooPair {
public:
  /// Creates the loopback device that all pairs need. Throws where the host has no
  /// loopback interface.
  static std::shared_ptr<gloo::transport::Device> createDevice();

  /// Throws where the pair cannot be made, such as without free file descriptors. A later send or
  /// receive throws when it makes no progress for `timeoutSeconds`.
  GlooPair(gloo::transport::Device &device, double timeoutSeconds, Socket connection);

  gloo::transport::Pair *operator->() const { return pair; }
  /// Waits for the next frame and looks at its header: why it is not one message of so many bytes,
  /// or empty. Gloo would write where a header says, also in front of a buffer. A connection that
  /// ends is left to Gloo. Throws when nothing comes in time.
  std::string whyMalformed(std::size_t bytes) const;

private:
  std::shared_ptr<gloo::transport::Context> context; ///< owns the pair
  gloo::transport::Pair *pair = nullptr;
  int descriptor = -1; ///< the pair's
};

} // namespace syncline::transport
