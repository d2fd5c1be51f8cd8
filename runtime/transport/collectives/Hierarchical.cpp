// All-reduce for nodes of several ranks. It sums inside each node first, so that little crosses
// the network.
#include "runtime/transport/collectives/Algorithms.h"
#include "runtime/transport/collectives/RankSubset.h"
#include "runtime/transport/collectives/Ring.h"

namespace syncline::transport {
namespace {

/// With G ranks in each node: a reduce-scatter inside the node, an all-reduce of 1/G of the message
/// between the ranks with the same place in their nodes, and an all-gather inside the node. All
/// three are rings. A rank sends 2(G-1)/G·N inside its node and 2(P/G-1)/(P/G)·N/G between nodes.
class Hierarchical : public AllReduce {
public:
  Hierarchical(int ranks, int place, std::unique_ptr<Ring> inside, std::unique_ptr<Ring> between)
      : AllReduce(ranks), place(place), inside(std::move(inside)), between(std::move(between)) {}

private:
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override {
    const core::Range own = inside->blockOf(place, bytes, type);
    SYNCLINE_TRY(inside->reduceScatter(data, bytes, type));
    SYNCLINE_TRY(between->allReduce(data + own.begin, own.size(), type));
    return inside->allGather(data, bytes, type);
  }

  const int place; ///< this rank's place in its node
  const std::unique_ptr<Ring> inside, between;
};

} // namespace

/// Errors: badInput when P is no multiple of G, so that a node is not full.
Result<std::unique_ptr<AllReduce>> createHierarchical(Transport &transport, const std::string &name,
                                                      const RankLayout &layout) {
  const int ranks = transport.size(), perNode = layout.ranksPerNode;
  if (perNode < 1 || ranks % perNode != 0)
    return Status::badInput(
        "scheme 'hierarchical' needs nodes of equally many ranks: " + std::to_string(ranks) +
        " ranks are no multiple of " + std::to_string(perNode) + " ranks a node");
  const int node = transport.rank() / perNode, place = transport.rank() % perNode;
  std::vector<int> neighbours, counterparts;
  for (int i = 0; i < perNode; ++i)
    neighbours.push_back(node * perNode + i);
  for (int i = 0; i < ranks / perNode; ++i)
    counterparts.push_back(i * perNode + place);
  // The names distinguish the groups of one node and of one place.
  RankSubset nodeRanks(transport, std::move(neighbours));
  SYNCLINE_TRY_GET(inside, Ring::create(nodeRanks, name + "/node" + std::to_string(node)));
  RankSubset placeRanks(transport, std::move(counterparts));
  SYNCLINE_TRY_GET(between, Ring::create(placeRanks, name + "/place" + std::to_string(place)));
  return std::unique_ptr<AllReduce>(
      new Hierarchical(ranks, place, std::move(*inside), std::move(*between)));
}

} // namespace syncline::transport
