// Ring collectives over point-to-point messages.
//
// A rank sees the ring as one stream of messages i = 0, 1, .. to the right and one from the left,
// step by step, and segment by segment within a step. What arrives as message i leaves as message i
// + segments in the next step; during the first P-1 steps it is summed in between. One loop over i
// therefore does both halves, and a segment is sent as soon as it is summed. The order of the
// messages is that of i.
#include "runtime/transport/collectives/Ring.h"

#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/AllReduce.h"

#include <cstring>

namespace syncline::transport {

using core::GatherPart;
using core::Range;

/// Steps [first, last) over one message. Steps before P-1 sum, the others copy.
struct Ring::Pass {
  PeerLinks &links;
  const int rank, ranks;
  const Blocks &blocks;
  const ElementType type;
  std::byte *const data;
  const int first, last; ///< steps

  int segments() const { return blocks.segments(); }
  bool isSum(int i) const { return i < (ranks - 1) * segments(); }

  Range outgoing(int i) const {
    int block = (rank - 1 - i / segments() + 2 * ranks) % ranks;
    return blocks.segment(block, i % segments());
  }
  /// The range that the left neighbour sends in the same step.
  Range incoming(int i) const {
    int block = (rank - 2 - i / segments() + 2 * ranks) % ranks;
    return blocks.segment(block, i % segments());
  }

  Status send(int i) {
    Range r = outgoing(i);
    return links.send((rank + 1) % ranks, data + r.begin, r.size());
  }

  Status take(int i) {
    Range r = incoming(i);
    int left = (rank + ranks - 1) % ranks;
    if (isSum(i))
      return links.receiveAndAdd(left, data + r.begin, r.size(), type);
    return links.receiveSum(left, data + r.begin, r.size());
  }

  Status run() {
    const int begin = first * segments(), end = last * segments();
    links.begin(blocks.segmentBytes());
    Status s;
    for (int i = begin; i < begin + segments() && s; ++i)
      s = send(i);
    for (int i = begin; i < end && s; ++i)
      if (s = take(i); s && i + segments() < end)
        s = send(i + segments());
    return links.finish(s);
  }
};

/// An all-gather of several parts. The messages of a step are the pieces of one rank's blocks, part
/// by part, all under way together.
struct Ring::PartsPass {
  PeerLinks &links;
  const int rank, ranks;
  std::vector<std::pair<const GatherPart *, Range>> pieces; ///< part and range inside a block

  /// The address of piece i in the block of rank `owner`.
  std::byte *at(std::size_t i, int owner) const {
    const auto &[part, range] = pieces[i];
    return static_cast<std::byte *>(part->data) +
           static_cast<std::size_t>((owner + 2 * ranks) % ranks) * part->bytes + range.begin;
  }
  Status send(std::size_t i, int step) {
    return links.send((rank + 1) % ranks, at(i, rank - step), pieces[i].second.size());
  }

  Status run() {
    Status s;
    for (std::size_t i = 0; i < pieces.size() && s; ++i)
      s = send(i, 0);
    for (int step = 0; step < ranks - 1; ++step)
      for (std::size_t i = 0; i < pieces.size() && s; ++i) {
        s = links.receive((rank + ranks - 1) % ranks, at(i, rank - 1 - step),
                          pieces[i].second.size());
        if (s && step + 1 < ranks - 1)
          s = send(i, step + 1);
      }
    return links.finish(s);
  }
};

Result<std::unique_ptr<Ring>> Ring::create(Transport &transport, const std::string &name) {
  int rank = transport.rank(), ranks = transport.size();
  std::unique_ptr<Ring> ring(new Ring(rank, ranks));
  if (ranks == 1)
    return ring;
  SYNCLINE_TRY_GET(
      links, PeerLinks::open(transport, name, {(rank + 1) % ranks}, {(rank + ranks - 1) % ranks}));
  ring->links = std::move(*links);
  return ring;
}

Blocks Ring::blocks(std::size_t bytes, ElementType type) const {
  return Blocks(ranks, bytes, core::elementBytes(type));
}

Range Ring::blockOf(int rank, std::size_t bytes, ElementType type) const {
  return blocks(bytes, type).block(rank);
}

Status Ring::reduceScatter(void *data, std::size_t bytes, ElementType type) {
  if (Status s = checkSummable(bytes, type); !s || ranks == 1)
    return s;
  return Pass{*links, rank,     ranks, blocks(bytes, type), type, static_cast<std::byte *>(data),
              0,      ranks - 1}
      .run();
}

Status Ring::allGather(void *data, std::size_t bytes, ElementType type) {
  if (ranks == 1)
    return Status::ok();
  return Pass{
      *links,    rank,         ranks, blocks(bytes, type), type, static_cast<std::byte *>(data),
      ranks - 1, 2 * ranks - 2}
      .run();
}

Status Ring::allGather(void *data, std::span<const std::size_t> sizes) {
  if (static_cast<int>(sizes.size()) != ranks)
    return Status::error(ErrorKind::internal, "an all-gather of " + std::to_string(sizes.size()) +
                                                  " blocks over " + std::to_string(ranks) +
                                                  " ranks");
  if (ranks == 1)
    return Status::ok();
  return Pass{*links,          rank,
              ranks,           Blocks(sizes),
              ElementType::u8, static_cast<std::byte *>(data),
              ranks - 1,       2 * ranks - 2}
      .run();
}

Status Ring::gatherPacked(std::span<const GatherPart> parts, std::size_t bytes) {
  std::vector<std::byte> packed(bytes * ranks);
  // Copies between rank r's block in `packed` and its places in the parts.
  auto copy = [&](int r, bool packs) {
    std::byte *place = packed.data() + bytes * r;
    for (const GatherPart &part : parts) {
      std::byte *own = static_cast<std::byte *>(part.data) + part.bytes * r;
      std::memcpy(packs ? place : own, packs ? own : place, part.bytes);
      place += part.bytes;
    }
  };
  copy(rank, true);
  const std::vector<std::size_t> sizes(ranks, bytes);
  SYNCLINE_TRY(allGather(packed.data(), sizes));
  for (int r = 0; r < ranks; ++r)
    if (r != rank)
      copy(r, false);
  return Status::ok();
}

Status Ring::allGather(std::span<const GatherPart> parts) {
  std::size_t bytes = 0;
  for (const GatherPart &part : parts)
    bytes += part.bytes;
  if (ranks == 1 || bytes == 0)
    return Status::ok();
  // Several messages under way may fill the network's buffers, so the sending thread sends them.
  if (bytes <= Transport::bufferedBytes)
    return gatherPacked(parts, bytes);
  links->begin(Transport::bufferedBytes + 1);
  PartsPass pass{*links, rank, ranks, {}};
  for (const GatherPart &part : parts) {
    const Segments segments({0, static_cast<std::size_t>(part.bytes)}, 64);
    for (int i = 0; i < segments.count(); ++i)
      pass.pieces.emplace_back(&part, segments[i]);
  }
  return pass.run();
}

Status Ring::allReduce(void *data, std::size_t bytes, ElementType type) {
  if (Status s = checkSummable(bytes, type); !s || ranks == 1 || bytes == 0)
    return s;
  return Pass{
      *links, rank,         ranks, blocks(bytes, type), type, static_cast<std::byte *>(data),
      0,      2 * ranks - 2}
      .run();
}

} // namespace syncline::transport
