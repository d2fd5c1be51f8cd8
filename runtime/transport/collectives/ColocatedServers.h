// Parameter server, sharded over the workers themselves: every rank serves one block.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/PeerLinks.h"

namespace syncline {

/// Each rank sends every other the block that the other serves, sums its own, and sends the sum to
/// all: 2 rounds of P-1 messages at once; a rank sends and receives 2(P-1)/P·N. Links between all
/// ranks.
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

} // namespace syncline
