// The transport through the memory of hosts, over connections of our own.
#pragma once

#include "runtime/transport/Store.h"
#include "runtime/transport/Transport.h"

#include <string>

namespace syncline::transport {

struct HostTransportOptions {
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
/// ended"). Each link has a connection, so that threads share none.
Result<std::unique_ptr<Transport>> createHostTransport(const HostTransportOptions &options,
                                                       Store &store, Watch *watch);

} // namespace syncline::transport
