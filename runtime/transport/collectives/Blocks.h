// Cutting a message into blocks, one for each rank, and blocks into segments.
#pragma once

#include "runtime/core/Range.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::transport {

/// A range in segments, so that one segment is summed while the next one travels. Sender and
/// receiver know the same lengths and therefore cut alike.
struct Segments {
  /// Largest segment. It stays in a core's second-level cache while it is summed, and is large
  /// enough to make the cost of a message (about 10 µs) negligible.
  static constexpr std::size_t largest = 256u << 10;

  /// Bytes of a segment, in whole units, when the longest range has `longest` bytes: at
  /// most `limit` (a multiple of `unit`), and less than the whole range where a further
  /// message pays off.
  static std::size_t lengthFor(std::size_t longest, std::size_t unit, std::size_t limit = largest);

  /// Cuts a range of whole units by lengthFor() of its own size.
  Segments(core::Range whole, std::size_t unit);

  core::Range whole;
  std::size_t length;
  int count() const { return static_cast<int>((whole.size() + length - 1) / length); }
  core::Range operator[](int i) const {
    std::size_t begin = whole.begin + i * length;
    return {begin, begin + length < whole.end ? begin + length : whole.end};
  }
};

/// A message in consecutive blocks. All blocks are cut into the same number of segments; segments
/// after the end of a block are empty.
class Blocks {
public:
  /// Equal blocks of whole elements; their lengths differ by at most one unit, which is at most a
  /// cache line. With fewer elements than blocks some blocks are empty.
  Blocks(int count, std::size_t bytes, std::size_t elementBytes,
         std::size_t largestSegment = Segments::largest);
  /// Blocks of given sizes, which may be 0.
  explicit Blocks(std::span<const std::size_t> sizes);

  int count() const { return static_cast<int>(ends.size()) - 1; }
  std::size_t bytes() const { return ends.back(); }
  core::Range block(int b) const { return {ends[b], ends[b + 1]}; }
  /// Blocks [first, last) as one range.
  core::Range blocks(int first, int last) const { return {ends[first], ends[last]}; }
  /// All borders of blocks and segments are multiples of it, in bytes.
  std::size_t unit() const { return unitBytes; }

  int segments() const { return segmentCount; }
  std::size_t segmentBytes() const { return segmentLength; }
  core::Range segment(int block, int segment) const;

private:
  void cutSegments(std::size_t longest, std::size_t limit);

  std::vector<std::size_t> ends; ///< block b ends at ends[b + 1]; ends[0] is 0
  std::size_t unitBytes, segmentLength = 1;
  int segmentCount = 1;
};

} // namespace syncline::transport
