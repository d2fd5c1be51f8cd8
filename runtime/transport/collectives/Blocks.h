// How a message is cut: into blocks, one a rank, and blocks into segments.
#pragma once

#include "runtime/core/Range.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline {

/// A range in pieces, so that a piece is summed while the next one travels. Sender and receiver cut
/// the same way, since they know the same lengths.
struct Segments {
  /// Stays in a core's second cache while it is summed, and large enough that the cost of a message
  /// (about 10 µs) does not show.
  static constexpr std::size_t largest = 256u << 10;

  /// Bytes of a segment, whole units, where the longest range has `longest` bytes: at most `limit`
  /// (a multiple of `unit`), and less than the whole where that is worth a message.
  static std::size_t lengthFor(std::size_t longest, std::size_t unit, std::size_t limit = largest);

  /// Cuts a range of whole units by lengthFor() of its own size.
  Segments(Range whole, std::size_t unit);

  Range whole;
  std::size_t length;
  int count() const { return static_cast<int>((whole.size() + length - 1) / length); }
  Range operator[](int i) const {
    std::size_t begin = whole.begin + i * length;
    return {begin, begin + length < whole.end ? begin + length : whole.end};
  }
};

/// A message in consecutive blocks, all cut into the same number of segments, of which those behind
/// a block's end are empty.
class Blocks {
public:
  /// Equal blocks of whole elements: they differ by one unit of at most a cache line. Fewer
  /// elements than blocks leave some empty.
  Blocks(int count, std::size_t bytes, std::size_t elementBytes,
         std::size_t largestSegment = Segments::largest);
  /// Blocks of given sizes, which may be 0.
  explicit Blocks(std::span<const std::size_t> sizes);

  int count() const { return static_cast<int>(ends.size()) - 1; }
  std::size_t bytes() const { return ends.back(); }
  Range block(int b) const { return {ends[b], ends[b + 1]}; }
  /// Blocks [first, last) as one range.
  Range blocks(int first, int last) const { return {ends[first], ends[last]}; }
  /// What every border between blocks and segments is a multiple of.
  std::size_t unit() const { return unitBytes; }

  int segments() const { return segmentCount; }
  std::size_t segmentBytes() const { return segmentLength; }
  Range segment(int block, int segment) const;

private:
  void cutSegments(std::size_t longest, std::size_t limit);

  std::vector<std::size_t> ends; ///< of block b: ends[b + 1]; begins with 0
  std::size_t unitBytes, segmentLength = 1;
  int segmentCount = 1;
};

} // namespace syncline
