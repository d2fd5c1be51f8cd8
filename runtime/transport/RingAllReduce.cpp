// Ring all-reduce over point-to-point messages.
//
// Seen from one rank, the ring is one stream of messages i = 0, 1, .. to the right and one from the
// left, step by step and segment by segment within a step. What arrives as message i is what leaves
// as message i + segments (of the next step), summed on the way during the first P-1 steps. So one
// loop over i does both halves, and a segment is on its way as soon as it is summed.
#include "runtime/transport/RingAllReduce.h"

#include "runtime/core/Executable.h"
#include "runtime/transport/Sum.h"

#include <algorithm>

namespace syncline {

RingSchedule::RingSchedule(int ranks, std::size_t bytes, std::size_t elementBytes)
    : ranks(ranks), bytes(bytes) {
  // Chunks begin on cache lines where there are enough of them.
  constexpr std::size_t line = 64;
  unit = bytes >= line * ranks ? line : elementBytes;
  // The longest chunk: one unit more than its share, or the bytes behind the last whole unit.
  std::size_t chunk = (bytes / unit + ranks - 1) / ranks * unit + unit;
  segments = static_cast<int>((chunk + largestSegment - 1) / largestSegment);
  if (segments == 1 && chunk > 2 * Transport::bufferedBytes)
    segments = 2;
  segmentBytes = (chunk / unit + segments - 1) / segments * unit;
}

RingSchedule::Range RingSchedule::range(int chunk, int segment) const {
  std::size_t units = bytes / unit;
  std::size_t first = units * chunk / ranks * unit;
  std::size_t last = chunk + 1 == ranks ? bytes : units * (chunk + 1) / ranks * unit;
  return {std::min(last, first + segment * segmentBytes),
          std::min(last, first + (segment + 1) * segmentBytes)};
}

/// One run over one message.
struct RingAllReduce::Pass {
  RingAllReduce &ring;
  const RingSchedule schedule;
  const ElementType type;
  std::byte *data;

  /// Small messages fit into the network's buffers: no other thread needs to send them.
  bool isSmall() const { return schedule.segmentBytes <= Transport::bufferedBytes; }
  int total() const { return 2 * (ring.ranks - 1) * schedule.segments; }
  bool isSum(int i) const { return i < (ring.ranks - 1) * schedule.segments; }

  RingSchedule::Range outgoing(int i) const {
    int chunk = (ring.rank - i / schedule.segments + 2 * ring.ranks) % ring.ranks;
    return schedule.range(chunk, i % schedule.segments);
  }
  /// What the left neighbour sends in the same step.
  RingSchedule::Range incoming(int i) const {
    int chunk = (ring.rank - 1 - i / schedule.segments + 2 * ring.ranks) % ring.ranks;
    return schedule.range(chunk, i % schedule.segments);
  }

  Status send(int i) {
    RingSchedule::Range r = outgoing(i);
    if (r.size() == 0)
      return Status::ok();
    if (isSmall())
      return ring.toRight->send(data + r.begin, r.size());
    ring.sender->push(data + r.begin, r.size());
    return Status::ok();
  }

  /// A final value is received in place although its place may still be queued for sending: it
  /// contains this rank's own part of the sum, so it cannot come before that part has left.
  Status take(int i) {
    RingSchedule::Range r = incoming(i);
    if (r.size() == 0)
      return Status::ok();
    if (!isSum(i))
      return ring.fromLeft->receive(data + r.begin, r.size());
    Status s = ring.fromLeft->receive(ring.landing.data(), r.size());
    if (s)
      addInto(type, data + r.begin, ring.landing.data(), r.size() / elementBytes(type));
    return s;
  }

  Status run() {
    Status s;
    for (int i = 0; i < schedule.segments && s; ++i)
      s = send(i);
    for (int i = 0; i < total() && s; ++i)
      if (s = take(i); s && i + schedule.segments < total())
        s = send(i + schedule.segments);
    if (s && !isSmall())
      s = ring.sender->flush();
    return s;
  }
};

Result<std::unique_ptr<RingAllReduce>> RingAllReduce::create(Transport &transport,
                                                             const std::string &name) {
  int rank = transport.rank(), ranks = transport.size();
  std::unique_ptr<RingAllReduce> ring(new RingAllReduce(rank, ranks));
  if (ranks == 1)
    return ring;
  // Named after the sender: with two ranks, left and right are the same peer.
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  LinkEnd ends[] = {{right, true, name + "/" + std::to_string(rank)},
                    {left, false, name + "/" + std::to_string(left)}};
  auto links = transport.open(ends);
  if (!links)
    return links.status();
  ring->toRight = std::move(links->at(0));
  ring->fromLeft = std::move(links->at(1));
  ring->sender = std::make_unique<SendThread>(*ring->toRight);
  return ring;
}

Status RingAllReduce::run(void *data, std::size_t bytes, ElementType type) {
  std::string name(elementName(type));
  if (!addInto(type, nullptr, nullptr, 0))
    return Status::badInput("no sum over ranks for element type '" + name + "'");
  if (bytes % elementBytes(type) != 0)
    return Status::error(ErrorKind::internal, "a bucket of " + std::to_string(bytes) +
                                                  " bytes does not hold whole elements of '" +
                                                  name + "'");
  if (ranks == 1 || bytes == 0)
    return Status::ok();
  RingSchedule schedule(ranks, bytes, elementBytes(type));
  landing.resize(std::max(landing.size(), schedule.segmentBytes));
  return Pass{*this, schedule, type, static_cast<std::byte *>(data)}.run();
}

} // namespace syncline
