// Two blocks, or one.
#include "runtime/transport/collectives/Trees.h"

#include "runtime/transport/Transport.h"

namespace syncline::transport {

Blocks treeBlocks(std::size_t bytes, std::size_t elementBytes) {
  // Segments are shorter than a ring's, because a pipeline as deep as the tree must fill.
  constexpr std::size_t longestSegment = 128u << 10;
  return Blocks(bytes > Transport::bufferedBytes ? 2 : 1, bytes, elementBytes, longestSegment);
}

} // namespace syncline::transport
