// A Transport over TCP that uses Gloo.
#pragma once

#include "runtime/transport/Store.h"
#include "runtime/transport/Transport.h"

#include <string>

namespace syncline::transport {

struct GlooOptions {
  int rank = 0, size = 1;
  core::RankNames names;
  std::string interface;         ///< network interface to use; empty for the one that has `address`
  bool reachesOtherHost = false; ///< whether rank 0 is on another host
  std::string address;           ///< numeric address of this host
  double startSeconds = 60;      ///< how long opening a link may take
  double timeoutSeconds = 30;    ///< how long a waiting rank tolerates a link without progress
};

/// Creates the transport; badInput where the interface cannot be used. `store` and `watch`, which
/// may be null, outlive it. The watch finds the rank at fault when a peer is late ("rank 3 has
/// ended"). SIGPIPE is ignored in this process from now on.
///
/// A link is one Gloo pair in synchronous mode: the waiting thread also reads the socket. In
/// asynchronous mode Gloo's own thread reads, and it spins while another thread holds the pair's
/// lock. Where both share a processor with the computation, a message then takes a scheduler's
/// slice (4 ms) instead of 0.1 ms.
Result<std::unique_ptr<Transport>> createGlooTransport(const GlooOptions &options, Store &store,
                                                       Watch *watch);

} // namespace syncline::transport
