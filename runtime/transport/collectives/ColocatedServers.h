// A parameter server that is sharded over the workers: every rank serves one block.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/PeerLinks.h"

namespace syncline::transport {

/// Each rank sends to every other rank the block that the other one serves, sums its own block, and
/// sends the sum to all. There are 2 rounds of P-1 simultaneous messages; a rank sends and receives
/// 2(P-1)/P·N. Needs links between all ranks.
class ColocatedServers : public AllReduce {
public:
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name);

private:
  ColocatedServers(int rank, int ranks, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), rank(rank), links(std::move(links)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;

  const int rank;
  std::unique_ptr<PeerLinks> links;
};

} // namespace syncline::transport
