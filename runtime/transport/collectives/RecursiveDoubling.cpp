// All-reduce by recursive doubling: the fewest rounds, with the whole message in each round.
//
// When a level begins, all ranks of a half hold the same bits, the sum of their half. lower + upper
// and upper + lower have the same bits too, once each side has rounded its own sum as the links
// round what the other side receives. A guest only receives, because no rank of the other
// half needs its values.
//
// Order of the messages: level by level, then segment by segment. Segment i is sent at the next
// level as soon as it is summed at this level.
#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Algorithms.h"
#include "runtime/transport/collectives/Blocks.h"
#include "runtime/transport/collectives/PeerLinks.h"
#include "runtime/transport/collectives/RankHalves.h"

#include <algorithm>

namespace syncline::transport {
namespace {

/// Takes ceil(log2 P) rounds, from pairs to all ranks. A rank sends and receives N in each
/// round, or 2N in a round where it has a guest (RankHalves.h), which happens only when P is no
/// power of two.
class RecursiveDoubling : public AllReduce {
public:
  RecursiveDoubling(int ranks, std::vector<RankHalving> levels, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), levels(std::move(levels)), links(std::move(links)) {}

private:
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;
  Status sendTo(const RankHalving &level, const std::byte *data, std::size_t bytes);

  const std::vector<RankHalving> levels; ///< in order: pairs first, all ranks last
  const std::unique_ptr<PeerLinks> links;
};

Status RecursiveDoubling::sendTo(const RankHalving &level, const std::byte *data,
                                 std::size_t bytes) {
  for (int peer : {level.partner, level.guest})
    if (peer >= 0)
      SYNCLINE_TRY(links->send(peer, data, bytes));
  return Status::ok();
}

Status RecursiveDoubling::sum(std::byte *data, std::size_t bytes, ElementType type) {
  const Segments segments({0, bytes}, core::elementBytes(type));
  const int count = segments.count();
  links->begin(segments.length);
  // The number of messages handed to the sending thread up to segment i of the present level.
  std::vector<std::uint64_t> handedOver(count);
  auto send = [&](const RankHalving &level, int i) {
    Status s = sendTo(level, data + segments[i].begin, segments[i].size());
    handedOver[i] = links->pushed();
    return s;
  };
  Status s;
  for (int i = 0; i < count && s; ++i)
    s = send(levels.front(), i);
  for (std::size_t l = 0; l < levels.size() && s; ++l)
    for (int i = 0; i < count && s; ++i) {
      const core::Range r = segments[i];
      const RankHalving &level = levels[l];
      s = links->receiveAside(level.host >= 0 ? level.host : level.partner, r.size());
      // Bytes that are being sent must not change. The other side has received them or is about to,
      // since it waits for nothing but this rank's own segment.
      if (s)
        s = links->waitUntilSent(handedOver[i]);
      if (!s)
        break;
      links->roundAsSent(data + r.begin, r.size());
      links->addReceived(data + r.begin, r.size(), type);
      if (l + 1 < levels.size())
        s = send(levels[l + 1], i);
    }
  return links->finish(s);
}

} // namespace

Result<std::unique_ptr<AllReduce>>
createRecursiveDoubling(Transport &transport, const std::string &name, const RankLayout &) {
  std::vector<RankHalving> levels = halvingsOf(transport.rank(), transport.size());
  std::reverse(levels.begin(), levels.end());
  SYNCLINE_TRY_GET(
      links, PeerLinks::open(transport, name, partnersAndGuests(levels), partnersAndHosts(levels)));
  return std::unique_ptr<AllReduce>(
      new RecursiveDoubling(transport.size(), std::move(levels), std::move(*links)));
}

} // namespace syncline::transport
