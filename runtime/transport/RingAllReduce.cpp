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
  unit = bytes >= line * ranks ? std::max(line, elementBytes) : elementBytes;
  std::size_t chunk = (bytes / unit + ranks - 1) / ranks * unit + unit;
  std::size_t wanted = std::clamp(chunk / 4, smallSegment, largeSegment);
  segments = static_cast<int>((chunk + wanted - 1) / wanted);
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
  const RingSchedule schedule;
  const int rank, ranks, left, right;
  const std::uint64_t tag;
  const ElementType type;
  const Deadline deadline;
  std::byte *data, *scratch;
  TransportBuffer &message, &landing;
  int sent = 0;

  int total() const { return 2 * (ranks - 1) * schedule.segments; }
  bool isSum(int i) const { return i < (ranks - 1) * schedule.segments; }

  /// Chunk that arrives in message i. It leaves the left rank in the same step.
  RingSchedule::Range incoming(int i) const {
    int step = i / schedule.segments;
    return schedule.range(((rank - 1 - step) % ranks + 2 * ranks) % ranks, i % schedule.segments);
  }
  RingSchedule::Range outgoing(int i) const {
    int step = i / schedule.segments;
    return schedule.range(((rank - step) % ranks + 2 * ranks) % ranks, i % schedule.segments);
  }

  Status send(int i) {
    RingSchedule::Range r = outgoing(i);
    if (r.size() == 0)
      return Status::ok();
    ++sent;
    return message.send(right, tag, r.begin, r.size());
  }

  /// A final value is received in place, even long before it comes: it contains this rank's own
  /// part of the sum, so it cannot arrive before that part was sent from there.
  Status post(int i) {
    RingSchedule::Range r = incoming(i);
    if (i >= total() || r.size() == 0)
      return Status::ok();
    if (isSum(i))
      return landing.receive(left, tag, i % depth * schedule.segmentBytes, r.size());
    return message.receive(left, tag, r.begin, r.size());
  }

  Status take(int i) {
    RingSchedule::Range r = incoming(i);
    if (r.size() == 0)
      return Status::ok();
    Status s = (isSum(i) ? landing : message).waitReceived(left, deadline);
    if (s && isSum(i))
      addInto(type, data + r.begin, scratch + i % depth * schedule.segmentBytes,
              r.size() / elementBytes(type));
    return s;
  }

  Status run() {
    Status s;
    for (int i = 0; i < depth && s; ++i)
      s = post(i);
    for (int i = 0; i < schedule.segments && s; ++i)
      s = send(i);
    for (int i = 0; i < total() && s; ++i) {
      if (s = take(i); s)
        s = post(i + depth);
      if (s && i + schedule.segments < total())
        s = send(i + schedule.segments);
    }
    for (; sent > 0 && s; --sent)
      s = message.waitSent(right, deadline);
    return s;
  }
};

RingAllReduce::RingAllReduce(Transport &transport, std::uint64_t tag)
    : transport(transport), tag(tag) {}

Status RingAllReduce::run(void *data, std::size_t bytes, ElementType type, Deadline deadline) {
  if (!addInto(type, nullptr, nullptr, 0))
    return Status::badInput("no sum over ranks for element type '" +
                            std::string(elementName(type)) + "'");
  if (bytes % elementBytes(type) != 0)
    return Status::error(ErrorKind::internal, "a bucket of " + std::to_string(bytes) +
                                                  " bytes does not hold whole elements of '" +
                                                  std::string(elementName(type)) + "'");
  int rank = transport.rank(), ranks = transport.size();
  if (ranks == 1 || bytes == 0)
    return Status::ok();
  RingSchedule schedule(ranks, bytes, elementBytes(type));
  scratch.resize(std::max(scratch.size(), depth * schedule.segmentBytes));
  auto message = transport.buffer(data, bytes);
  auto landing = transport.buffer(scratch.data(), scratch.size());
  Pass pass{schedule, rank,    ranks,    (rank + ranks - 1) % ranks,     (rank + 1) % ranks,
            tag,      type,    deadline, static_cast<std::byte *>(data), scratch.data(),
            *message, *landing};
  return pass.run();
}

} // namespace syncline
