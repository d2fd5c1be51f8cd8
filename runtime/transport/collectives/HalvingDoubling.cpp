// Halving-doubling over point-to-point messages.
//
// The message has one block for each rank. A group of ranks sums the blocks of its own ranks: each
// half sends the other half its values of the other's blocks, then continues alone. Each element is
// summed along one path and copied back along the same path, so that all ranks hold the same bits.
//
// Order of the messages: the levels of halving, then those of doubling; within a level partners
// before guests, then segment by segment.
#include "runtime/transport/collectives/HalvingDoubling.h"

#include "runtime/core/StepTypes.h"

#include <algorithm>

namespace syncline::transport {

/// The sum of one message.
struct HalvingDoubling::Pass {
  PeerLinks &links;
  const Blocks blocks;
  const ElementType type;
  std::byte *data;

  Segments cut(int firstBlock, int lastBlock) const {
    return Segments(blocks.blocks(firstBlock, lastBlock), blocks.unit());
  }

  Status send(int peer, const Segments &segments) {
    Status s;
    for (int i = 0; i < segments.count() && s && peer >= 0; ++i)
      s = links.send(peer, data + segments[i].begin, segments[i].size());
    return s;
  }
  Status receiveAndAdd(int peer, const Segments &segments) {
    Status s;
    for (int i = 0; i < segments.count() && s && peer >= 0; ++i)
      s = links.receiveAndAdd(peer, data + segments[i].begin, segments[i].size(), type);
    return s;
  }
  /// Received in place: a final value contains this rank's own values, so these have been sent.
  Status receive(int peer, const Segments &segments) {
    Status s;
    for (int i = 0; i < segments.count() && s && peer >= 0; ++i)
      s = links.receive(peer, data + segments[i].begin, segments[i].size());
    return s;
  }

  Status halve(const RankHalving &level) {
    const Segments own = cut(level.ownFirst(), level.ownLast());
    Status s = send(level.host >= 0 ? level.host : level.partner,
                    cut(level.otherFirst(), level.otherLast()));
    if (s)
      s = receiveAndAdd(level.partner, own);
    return s ? receiveAndAdd(level.guest, own) : s;
  }

  Status doubleUp(const RankHalving &level) {
    const Segments own = cut(level.ownFirst(), level.ownLast());
    Status s = send(level.partner, own);
    if (s)
      s = send(level.guest, own);
    return s ? receive(level.host >= 0 ? level.host : level.partner,
                       cut(level.otherFirst(), level.otherLast()))
             : s;
  }
};

Result<std::unique_ptr<AllReduce>> HalvingDoubling::create(Transport &transport,
                                                           const std::string &name) {
  std::vector<RankHalving> levels = halvingsOf(transport.rank(), transport.size());
  // A guest sends to its host and later receives from it.
  std::set<int> peers = partnersAndGuests(levels);
  peers.merge(partnersAndHosts(levels));
  SYNCLINE_TRY_GET(links, PeerLinks::open(transport, name, peers, peers));
  return std::unique_ptr<AllReduce>(
      new HalvingDoubling(transport.size(), std::move(levels), std::move(*links)));
}

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

} // namespace syncline::transport
