// All-reduce for nodes of several ranks. It sums inside each node first, so that little crosses
// the network.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Ring.h"

namespace syncline::transport {

/// With G ranks in each node: a reduce-scatter inside the node, an all-reduce of 1/G of the message
/// between the ranks with the same place in their nodes, and an all-gather inside the node. All
/// three are rings. A rank sends 2(G-1)/G·N inside its node and 2(P/G-1)/(P/G)·N/G between nodes.
class Hierarchical : public AllReduce {
public:
  /// Errors: badInput when P is no multiple of G, so that a node is not full.
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name,
                                                   const RankLayout &layout);

private:
  Hierarchical(int ranks, int place, std::unique_ptr<Ring> inside, std::unique_ptr<Ring> between)
      : AllReduce(ranks), place(place), inside(std::move(inside)), between(std::move(between)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;

  const int place; ///< this rank's place in its node
  std::unique_ptr<Ring> inside, between;
};

} // namespace syncline::transport
