// Transport over TCP by Gloo.
#pragma once

#include "runtime/transport/Store.h"
#include "runtime/transport/Transport.h"

#include <string>

namespace syncline {

struct GlooOptions {
  int rank = 0, size = 1;
  RankNames names;
  std::string interface;      ///< network interface to use; empty: whichever has `address`
  std::string address;        ///< numeric address of this host
  double startSeconds = 60;   ///< how long opening a link may take
  double timeoutSeconds = 30; ///< how long a link may stand still while somebody waits for it
};

/// `store` and `watch`, which may be null, outlive the transport; the watch turns "somebody is
/// late" into "rank 3 has ended". Ignores SIGPIPE in this process from now on.
///
/// A link is one Gloo pair in its synchronous mode: the thread that waits also reads the socket.
/// In the asynchronous mode Gloo's own thread reads, and while another thread holds the pair's lock
/// it spins; where both share a processor with the computation, a message then takes a scheduler's
/// slice (4 ms) instead of 0.1 ms.
Result<std::unique_ptr<Transport>> createGlooTransport(const GlooOptions &options, Store &store,
                                                       Watch *watch);

} // namespace syncline
