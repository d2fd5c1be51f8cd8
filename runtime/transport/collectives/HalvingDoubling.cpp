// All-reduce by recursive halving and doubling (Rabenseifner), with few rounds and little traffic.
//
// The message has one block for each rank. A group of ranks sums the blocks of its own ranks: each
// half sends the other half its values of the other's blocks, then continues alone. Each element is
// summed along one path and copied back along the same path, so that all ranks hold the same bits.
//
// Order of the messages: the levels of halving, then those of doubling; within a level partners
// before guests, then segment by segment.
#include "runtime/core/Channel.h"
#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Algorithms.h"
#include "runtime/transport/collectives/Blocks.h"
#include "runtime/transport/collectives/PeerLinks.h"
#include "runtime/transport/collectives/RankHalves.h"

#include <algorithm>

namespace syncline::transport {
namespace {

/// Takes 2·ceil(log2 P) rounds: a reduce-scatter that exchanges halves, quarters and so on of the
/// message, then an all-gather in the reverse order. A rank sends and receives 2(P-1)/P·N when P is
/// a power of two. Otherwise hosts (RankHalves.h) send more; with 3 ranks, 2N in all.
class HalvingDoubling : public AllReduce {
public:
  HalvingDoubling(int ranks, std::vector<RankHalving> levels, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), levels(std::move(levels)), links(std::move(links)) {}

private:
  struct Pass;
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override {
    return sumHalf(data, bytes, type, core::Half::whole);
  }
  Status sumHalf(std::byte *data, std::size_t bytes, ElementType type, core::Half half) override;

  const std::vector<RankHalving> levels; ///< from all ranks to pairs
  const std::unique_ptr<PeerLinks> links;
};

/// The sum of one message. A peer of -1 is none.
struct HalvingDoubling::Pass {
  PeerLinks &links;
  const Blocks blocks;
  const ElementType type;
  std::byte *data;

  Segments cut(int firstBlock, int lastBlock) const {
    return Segments(blocks.blocks(firstBlock, lastBlock), blocks.unit());
  }

  Status send(int peer, const Segments &segments) {
    for (int i = 0; i < segments.count() && peer >= 0; ++i)
      SYNCLINE_TRY(links.send(peer, data + segments[i].begin, segments[i].size()));
    return Status::ok();
  }
  Status receiveAndAdd(int peer, const Segments &segments) {
    for (int i = 0; i < segments.count() && peer >= 0; ++i)
      SYNCLINE_TRY(links.receiveAndAdd(peer, data + segments[i].begin, segments[i].size(), type));
    return Status::ok();
  }
  Status receiveSums(int peer, const Segments &segments) {
    for (int i = 0; i < segments.count() && peer >= 0; ++i)
      SYNCLINE_TRY(links.receiveSum(peer, data + segments[i].begin, segments[i].size()));
    return Status::ok();
  }

  Status halve(const RankHalving &level) {
    const Segments own = cut(level.ownFirst(), level.ownLast());
    SYNCLINE_TRY(send(level.host >= 0 ? level.host : level.partner,
                      cut(level.otherFirst(), level.otherLast())));
    SYNCLINE_TRY(receiveAndAdd(level.partner, own));
    return receiveAndAdd(level.guest, own);
  }

  Status doubleUp(const RankHalving &level) {
    const Segments own = cut(level.ownFirst(), level.ownLast());
    SYNCLINE_TRY(send(level.partner, own));
    SYNCLINE_TRY(send(level.guest, own));
    return receiveSums(level.host >= 0 ? level.host : level.partner,
                       cut(level.otherFirst(), level.otherLast()));
  }
};

Status HalvingDoubling::sumHalf(std::byte *data, std::size_t bytes, ElementType type,
                                core::Half half) {
  Pass pass{*links, Blocks(ranks, bytes, core::elementBytes(type)), type, data};
  // The first level has the longest range; segments of shorter ranges may be longer.
  const RankHalving &widest = levels.front();
  links->begin(
      std::min(Segments::largest, std::max(pass.blocks.blocks(widest.first, widest.middle).size(),
                                           pass.blocks.blocks(widest.middle, widest.last).size())));
  Status s;
  if (half != core::Half::second)
    for (auto level = levels.begin(); level != levels.end() && s; ++level)
      s = pass.halve(*level);
  if (half != core::Half::first)
    for (auto level = levels.rbegin(); level != levels.rend() && s; ++level)
      s = pass.doubleUp(*level);
  return links->finish(s);
}

} // namespace

Result<std::unique_ptr<AllReduce>>
createHalvingDoubling(Transport &transport, const std::string &name, const RankLayout &) {
  std::vector<RankHalving> levels = halvingsOf(transport.rank(), transport.size());
  // A guest sends to its host and later receives from it.
  std::set<int> peers = partnersAndGuests(levels);
  peers.merge(partnersAndHosts(levels));
  SYNCLINE_TRY_GET(links, PeerLinks::open(transport, name, peers, peers));
  return std::unique_ptr<AllReduce>(
      new HalvingDoubling(transport.size(), std::move(levels), std::move(*links)));
}

} // namespace syncline::transport
