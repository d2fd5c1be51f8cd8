// A parameter server on separate ranks: workers send, servers sum and reply.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/PeerLinks.h"

namespace syncline::transport {

/// The roles of a transport's ranks: the first ones are workers, the others servers. Each server
/// serves an equal block of every message.
struct ServerGroup {
  int workers, servers;
};

/// Creates a worker's side, which sends N and receives N at the same time. The result has the same
/// bits on all workers, and the same bits in a repeated run with the same roles. Errors: those of
/// all all-reduces; badInput when the group has no server or differs from the transport's size.
Result<std::unique_ptr<AllReduce>> createServerClient(Transport &transport, const std::string &name,
                                                      const ServerGroup &group);

/// A server's side. With P workers and S servers it receives PN/S and sends as much at the same
/// time. One thread at a time uses it.
class DedicatedServer {
public:
  /// Called at the same time as the workers' createServerClient().
  static Result<std::unique_ptr<DedicatedServer>>
  create(Transport &transport, const std::string &name, const ServerGroup &group);

  /// Serves one message of the workers. Called with the same lengths and in the same order as the
  /// workers' runs. Errors: as AllReduce::run().
  Status serve(std::size_t bytes, ElementType type);

private:
  DedicatedServer(int index, const ServerGroup &group, std::vector<int> order,
                  std::unique_ptr<PeerLinks> links)
      : index(index), group(group), order(std::move(order)), links(std::move(links)) {}

  const int index; ///< this server's number among the servers
  const ServerGroup group;
  const std::vector<int> order; ///< the workers in the order in which this server receives
  std::unique_ptr<PeerLinks> links;
  std::vector<std::byte> block; ///< holds the sum
};

} // namespace syncline::transport
