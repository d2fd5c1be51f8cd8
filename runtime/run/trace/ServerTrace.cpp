// The messages of RankZeroLinks in the order in which workers exchange them.
#include "runtime/run/trace/ServerTrace.h"

#include "runtime/run/trace/ServerTracks.h"

namespace syncline::run {

Result<ServerTrace> ServerTrace::open(transport::Group &group, double timeoutSeconds, int ranks) {
  SYNCLINE_TRY_GET(links, RankZeroLinks::open(group, timeoutSeconds, ranks));
  if (auto compared = links->measureOffsets(); !compared)
    return compared.status();
  return ServerTrace(std::move(*links));
}

Status ServerTrace::send(std::span<const servers::Service> services) {
  if (auto compared = links.measureOffsets(); !compared)
    return compared.status();
  if (auto steps = links.collect({}); !steps)
    return steps.status();
  return links.collect(packServices(services)).status();
}

} // namespace syncline::run
