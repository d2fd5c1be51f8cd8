// Computing the borders of blocks and segments.
#include "runtime/transport/collectives/Blocks.h"

#include "runtime/transport/Transport.h"

#include <algorithm>

namespace syncline::transport {

static std::size_t roundedUp(std::size_t n, std::size_t to) { return (n + to - 1) / to; }

std::size_t Segments::lengthFor(std::size_t longest, std::size_t unit, std::size_t limit) {
  std::size_t count = roundedUp(longest, limit);
  if (count <= 1)
    count = longest > 2 * Transport::bufferedBytes ? 2 : 1;
  return std::max(unit, roundedUp(roundedUp(longest, unit), count) * unit);
}

Segments::Segments(core::Range whole, std::size_t unit)
    : whole(whole), length(lengthFor(whole.size(), unit)) {}

Blocks::Blocks(int count, std::size_t bytes, std::size_t elementBytes, std::size_t largestSegment) {
  // Blocks begin on cache lines where there are enough of them.
  constexpr std::size_t line = 64;
  unitBytes = bytes >= line * count ? line : elementBytes;
  const std::size_t units = bytes / unitBytes;
  std::size_t longest = 0;
  ends.reserve(count + 1);
  ends.push_back(0);
  for (int b = 1; b <= count; ++b) {
    // The last block takes the bytes after the last whole unit.
    ends.push_back(b == count ? bytes : units * b / count * unitBytes);
    longest = std::max(longest, ends[b] - ends[b - 1]);
  }
  cutSegments(longest, largestSegment);
}

Blocks::Blocks(std::span<const std::size_t> sizes) : unitBytes(1) {
  std::size_t longest = 0;
  ends.push_back(0);
  for (std::size_t size : sizes) {
    ends.push_back(ends.back() + size);
    longest = std::max(longest, size);
  }
  cutSegments(longest, Segments::largest);
}

void Blocks::cutSegments(std::size_t longest, std::size_t limit) {
  segmentLength = Segments::lengthFor(longest, unitBytes, limit);
  segmentCount = std::max<int>(1, static_cast<int>(roundedUp(longest, segmentLength)));
}

core::Range Blocks::segment(int block, int segment) const {
  const std::size_t last = ends[block + 1];
  const std::size_t begin = std::min(last, ends[block] + segment * segmentLength);
  return {begin, std::min(last, begin + segmentLength)};
}

} // namespace syncline::transport
