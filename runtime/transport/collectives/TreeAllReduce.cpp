// All-reduce by binary trees: few rounds, and nearly the ring's traffic for long messages. A
// pipelined double binary tree over point-to-point messages.
//
// Time is divided in beats. With H the trees' height, a rank at depth d handles segment i on its
// way up at beat i + H - d and on its way down at beat i + H + d, so that every message was sent
// one beat before it is received. The common order of messages is by beat, within a beat by tree,
// and then up before down.
#include "runtime/core/Channel.h"
#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Algorithms.h"
#include "runtime/transport/collectives/PeerLinks.h"
#include "runtime/transport/collectives/Trees.h"

namespace syncline::transport {
namespace {

/// Sums go up a tree while results come down, segment after segment. A short message uses one tree
/// and takes 2·floor(log2 P) rounds. A long message is halved over two trees with different leaves
/// (double binary tree): a rank sends and receives at most 2N, and the message takes the time of
/// 2·floor(log2 P) rounds of one segment plus 2N.
class TreeAllReduce : public AllReduce {
public:
  TreeAllReduce(int ranks, std::vector<TreePlace> places, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), places(std::move(places)), links(std::move(links)) {}

private:
  struct Pass;
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override {
    return sumHalf(data, bytes, type, core::Half::whole);
  }
  Status sumHalf(std::byte *data, std::size_t bytes, ElementType type, core::Half half) override;

  const std::vector<TreePlace> places; ///< this rank's places in both trees
  const std::unique_ptr<PeerLinks> links;
};

/// The sum of one message, which has one block for each tree.
struct TreeAllReduce::Pass {
  const std::vector<TreePlace> &places;
  PeerLinks &links;
  const Blocks blocks;
  const ElementType type;
  std::byte *data;

  Status up(const TreePlace &place, core::Range r) {
    for (int child : place.children)
      SYNCLINE_TRY(links.receiveAndAdd(child, data + r.begin, r.size(), type));
    return place.parent >= 0 ? links.send(place.parent, data + r.begin, r.size()) : Status::ok();
  }

  Status down(const TreePlace &place, core::Range r) {
    if (place.parent >= 0)
      SYNCLINE_TRY(links.receiveSum(place.parent, data + r.begin, r.size()));
    for (int child : place.children)
      SYNCLINE_TRY(links.send(child, data + r.begin, r.size()));
    return Status::ok();
  }

  Status run(int height, core::Half half) {
    const int count = blocks.segments();
    for (int beat = 0; beat < count + 2 * height; ++beat)
      for (int tree = 0; tree < blocks.count(); ++tree) {
        const TreePlace &place = places[tree];
        const int rising = beat - height + place.depth, falling = beat - height - place.depth;
        if (half != core::Half::second && rising >= 0 && rising < count)
          SYNCLINE_TRY(up(place, blocks.segment(tree, rising)));
        if (half != core::Half::first && falling >= 0 && falling < count)
          SYNCLINE_TRY(down(place, blocks.segment(tree, falling)));
      }
    return Status::ok();
  }
};

Status TreeAllReduce::sumHalf(std::byte *data, std::size_t bytes, ElementType type,
                              core::Half half) {
  Pass pass{places, *links, treeBlocks(bytes, core::elementBytes(type)), type, data};
  links->begin(pass.blocks.segmentBytes());
  return links->finish(pass.run(treeHeight(ranks), half));
}

} // namespace

Result<std::unique_ptr<AllReduce>> createTrees(Transport &transport, const std::string &name,
                                               const RankLayout &) {
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

} // namespace syncline::transport
