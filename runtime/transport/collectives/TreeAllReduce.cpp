// Pipelined double binary tree over point-to-point messages.
//
// Time is divided in beats. With H the trees' height, a rank at depth d handles segment i on its
// way up at beat i + H - d and on its way down at beat i + H + d, so that every message was sent
// one beat before it is received. The common order of messages is by beat, within a beat by tree,
// and then up before down.
#include "runtime/transport/collectives/TreeAllReduce.h"

#include "runtime/core/StepTypes.h"

namespace syncline::transport {

/// The sum of one message, which has one block for each tree.
struct TreeAllReduce::Pass {
  const std::vector<TreePlace> &places;
  PeerLinks &links;
  const Blocks blocks;
  const ElementType type;
  std::byte *data;

  Status up(const TreePlace &place, core::Range r) {
    Status s;
    for (std::size_t c = 0; c < place.children.size() && s; ++c)
      s = links.receiveAndAdd(place.children[c], data + r.begin, r.size(), type);
    if (s && place.parent >= 0)
      s = links.send(place.parent, data + r.begin, r.size());
    return s;
  }

  /// Received in place: a final value contains this rank's own values, so these have been sent.
  Status down(const TreePlace &place, core::Range r) {
    Status s;
    if (place.parent >= 0)
      s = links.receive(place.parent, data + r.begin, r.size());
    for (std::size_t c = 0; c < place.children.size() && s; ++c)
      s = links.send(place.children[c], data + r.begin, r.size());
    return s;
  }

  Status run(int height, core::Half half) {
    const int count = blocks.segments();
    Status s;
    for (int beat = 0; beat < count + 2 * height && s; ++beat)
      for (int tree = 0; tree < blocks.count() && s; ++tree) {
        const TreePlace &place = places[tree];
        const int rising = beat - height + place.depth, falling = beat - height - place.depth;
        if (half != core::Half::second && rising >= 0 && rising < count)
          s = up(place, blocks.segment(tree, rising));
        if (s && half != core::Half::first && falling >= 0 && falling < count)
          s = down(place, blocks.segment(tree, falling));
      }
    return s;
  }
};

Result<std::unique_ptr<AllReduce>> TreeAllReduce::create(Transport &transport,
                                                         const std::string &name) {
  std::vector<TreePlace> places;
  std::set<int> peers;
  for (int tree = 0; tree < 2; ++tree) {
    places.push_back(treePlace(tree, transport.rank(), transport.size()));
    peers.insert(places.back().children.begin(), places.back().children.end());
    if (places.back().parent >= 0)
      peers.insert(places.back().parent);
  }
  SYNCLINE_TRY_GET(links, PeerLinks::open(transport, name, peers, peers));
  return std::unique_ptr<AllReduce>(
      new TreeAllReduce(transport.size(), std::move(places), std::move(*links)));
}

Status TreeAllReduce::sumHalf(std::byte *data, std::size_t bytes, ElementType type,
                              core::Half half) {
  Pass pass{places, *links, treeBlocks(bytes, core::elementBytes(type)), type, data};
  links->begin(pass.blocks.segmentBytes());
  return links->finish(pass.run(treeHeight(ranks), half));
}

} // namespace syncline::transport
