// Parameter server on ranks of its own: workers send, servers sum and reply.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/PeerLinks.h"

namespace syncline {

/// Of a transport's ranks the first ones are workers, the others servers, each of which serves an
/// equal block of every message.
struct ServerGroup {
  int workers, servers;
};

/// A worker's side: sends N and, at the same time, receives N. The result has the same bits on all
/// workers, and again in a run repeated with the same roles.
/// Errors: as all all-reduces; badInput when the group has no server or is not the transport's
/// size.
Result<std::unique_ptr<AllReduce>> createServerClient(Transport &transport, const std::string &name,
                                                      const ServerGroup &group);

/// A server's side: for P workers and S servers receives PN/S and, at the same time, sends as much.
/// One thread at a time.
class DedicatedServer {
public:
  /// Together with the workers' createServerClient().
  static Result<std::unique_ptr<DedicatedServer>>
  create(Transport &transport, const std::string &name, const ServerGroup &group);

  /// Serves one message of the workers; called with the lengths and in the order of their runs.
  /// Errors: as AllReduce::run().
  Status serve(std::size_t bytes, ElementType type);

private:
  DedicatedServer(int index, const ServerGroup &group, std::vector<int> order,
                  std::unique_ptr<PeerLinks> links)
      : index(index), group(group), order(std::move(order)), links(std::move(links)) {}

  const int index; ///< among the servers
  const ServerGroup group;
  const std::vector<int> order; ///< of the workers, as this server hears of them
  std::unique_ptr<PeerLinks> links;
  std::vector<std::byte> block; ///< the sum
};

} // namespace syncline
