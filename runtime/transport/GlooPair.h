// A Gloo pair over a connection that is there already.
#pragma once

#include "runtime/transport/Socket.h"

#include <memory>

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>

namespace syncline {

/// One end of a connection as a pair in Gloo's synchronous mode. A pair of Gloo's listens on a port
/// of its own and takes the first connection for its peer, so that a port scanner ends a run which
/// starts; and it takes no connection that was made elsewhere. So the pair is connected to a socket
/// of this process over loopback, and then `connection`, whose other end is known, takes the place
/// of the pair's socket: in synchronous mode a pair does nothing but read and write its file
/// descriptor. Used by one thread at a time.
class GlooPair {
public:
  /// The device that all pairs need: loopback. Throws where the host has none.
  static std::shared_ptr<gloo::transport::Device> createDevice();

  /// A send or a receive that stands still for `timeoutSeconds` throws. Throws where the pair
  /// cannot be made, as for want of file descriptors.
  GlooPair(gloo::transport::Device &device, double timeoutSeconds, Socket connection);

  gloo::transport::Pair *operator->() const { return pair; }

private:
  std::shared_ptr<gloo::transport::Context> context; ///< owns the pair
  gloo::transport::Pair *pair = nullptr;
};

} // namespace syncline
