// Transport over TCP by Gloo.
#pragma once

#include "runtime/transport/Store.h"
#include "runtime/transport/Transport.h"

#include <string>

namespace syncline {

struct GlooOptions {
  int rank = 0, size = 1;
  std::string interface; ///< network interface to use; empty: whichever has `address`
  std::string address;   ///< numeric address of this host
};

/// Connects all pairs of ranks. `store` is used until it returns; `watch`, which may be null, must
/// outlive the transport: it turns "somebody is late" into "rank 3 has ended". Ignores SIGPIPE in
/// this process from now on.
Result<std::unique_ptr<Transport>> connectGloo(const GlooOptions &options, Store &store,
                                               Watch *watch, Deadline deadline);

} // namespace syncline
