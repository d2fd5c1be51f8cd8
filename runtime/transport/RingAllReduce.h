// The sum over all ranks by a ring: reduce-scatter, then all-gather.
#pragma once

#include "runtime/transport/SendThread.h"
#include "syncline/Step.h"

#include <vector>

namespace syncline {

/// How a message is cut: into one chunk a rank, a chunk into segments, so that a segment is summed
/// while the next one travels.
struct RingSchedule {
  /// Stays in a core's second cache while it is summed, and large enough that the cost of a message
  /// (about 10 µs) does not show.
  static constexpr std::size_t largestSegment = 256u << 10;

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

/// Sums messages over the ranks, in place. One thread at a time.
///
/// 2(P-1) steps; each rank sends and receives 2(P-1)/P of the message. The result has the same bits
/// on every rank: every element is summed once, in ring order, and then copied. Any number of ranks
/// and any length will do, fewer elements than ranks included.
class RingAllReduce {
public:
  /// Opens the links to both neighbours; all ranks together. `name` tells several rings apart.
  static Result<std::unique_ptr<RingAllReduce>> create(Transport &transport,
                                                       const std::string &name);

  /// All ranks call it with the same lengths in the same order. Errors: peerLost; badInput for a
  /// type that has no sum.
  Status run(void *data, std::size_t bytes, ElementType type);

private:
  struct Pass;
  RingAllReduce(int rank, int ranks) : rank(rank), ranks(ranks) {}

  const int rank, ranks;
  std::unique_ptr<Link> toRight, fromLeft;
  std::unique_ptr<SendThread> sender;
  std::vector<std::byte> landing; ///< one segment
};

} // namespace syncline
