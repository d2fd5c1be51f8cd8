// All-reduce for nodes of several ranks: inside the node first, so that little crosses the network.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Ring.h"

namespace syncline {

/// With G ranks a node: reduce-scatter inside the node, all-reduce of 1/G of the message between
/// the nodes' ranks of the same place, all-gather inside. Rings all three; a rank sends 2(G-1)/G·N
/// inside and 2(P/G-1)/(P/G)·N/G between.
class Hierarchical : public AllReduce {
public:
  /// badInput when the nodes are not full: P is no multiple of G.
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name,
                                                   const RankLayout &layout);

private:
  Hierarchical(int ranks, int place, std::unique_ptr<Ring> inside, std::unique_ptr<Ring> between)
      : AllReduce(ranks), place(place), inside(std::move(inside)), between(std::move(between)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;

  const int place; ///< in the node
  std::unique_ptr<Ring> inside, between;
};

} // namespace syncline
