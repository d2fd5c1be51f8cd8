// A dedicated server's part in `--trace`.
#pragma once

#include "runtime/run/trace/ClockAlignment.h"
#include "runtime/servers/ServiceLog.h"

#include <span>

namespace syncline::run {

/// A server calls its functions as workers call those of TraceRecorder: open() beside create(), and
/// send() beside finish().
class ServerTrace {
public:
  /// Connects to rank 0 and has the clock compared. `group` outlives the result. Errors: peerLost.
  static Result<ServerTrace> open(transport::Group &group, double timeoutSeconds, int ranks);
  /// Has the clock compared again and sends the services to rank 0. Errors: peerLost.
  Status send(std::span<const servers::Service> services);

private:
  explicit ServerTrace(RankZeroLinks links) : links(std::move(links)) {}

  RankZeroLinks links;
};

} // namespace syncline::run
