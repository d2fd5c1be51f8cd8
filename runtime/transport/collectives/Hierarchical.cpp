// Hierarchical all-reduce by passes of three rings.
#include "runtime/transport/collectives/Hierarchical.h"

#include "runtime/transport/collectives/RankSubset.h"

namespace syncline::transport {

Result<std::unique_ptr<AllReduce>>
Hierarchical::create(Transport &transport, const std::string &name, const RankLayout &layout) {
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

Status Hierarchical::sum(std::byte *data, std::size_t bytes, ElementType type) {
  const core::Range own = inside->blockOf(place, bytes, type);
  Status s = inside->reduceScatter(data, bytes, type);
  if (s)
    s = between->allReduce(data + own.begin, own.size(), type);
  return s ? inside->allGather(data, bytes, type) : s;
}

} // namespace syncline::transport
