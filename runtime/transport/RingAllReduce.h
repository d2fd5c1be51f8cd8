// The sum over all ranks by a ring: reduce-scatter, then all-gather.
#pragma once

#include "runtime/transport/Transport.h"
#include "syncline/Step.h"

#include <vector>

namespace syncline {

/// Where in the message a step of the ring works. Chunk c is what rank c-1 completes; chunks are
/// cut into segments so that a segment is summed while the next one travels.
struct RingSchedule {
  /// Smallest segment worth a message of its own, and largest that stays in a cache while summed.
  static constexpr std::size_t smallSegment = 128u << 10, largeSegment = 512u << 10;

  RingSchedule(int ranks, std::size_t bytes, std::size_t elementBytes);

  /// Bytes of one segment of a chunk: begin and end in the message; may be empty.
  struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
  };
  Range range(int chunk, int segment) const;

  int ranks, segments;
  std::size_t bytes, unit, segmentBytes;
};

/// Sums `bytes` bytes at `data` over the ranks, in place.
///
/// 2(P-1) steps; each rank sends and receives 2(P-1)/P of the message. The result has the same bits
/// on every rank: every element is summed once, in ring order, and then copied. Any number of ranks
/// and any length will do, fewer elements than ranks included. All ranks call it with the same
/// lengths in the same order.
class RingAllReduce {
public:
  /// `tag` keeps its messages apart from those of other rings on the transport.
  RingAllReduce(Transport &transport, std::uint64_t tag);

  /// Errors: peerLost; badInput for a type that has no sum.
  Status run(void *data, std::size_t bytes, ElementType type, Deadline deadline);

private:
  struct Pass;
  /// Received segments that wait to be summed; also how many receives are posted ahead.
  static constexpr int depth = 4;

  Transport &transport;
  std::uint64_t tag;
  std::vector<std::byte> scratch;
};

} // namespace syncline
