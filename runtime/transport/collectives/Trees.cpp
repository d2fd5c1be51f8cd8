// Binary search trees over positions. A subtree's left part is full, so that its leaves, and by
// induction all leaves, are at even positions.
#include "runtime/transport/collectives/Trees.h"

#include "runtime/transport/Transport.h"

#include <bit>

namespace syncline::transport {

int treeHeight(int ranks) { return std::bit_width(static_cast<unsigned>(ranks)) - 1; }

/// The root of the subtree over positions [first, last), or -1 when it is empty.
static int rootOf(int first, int last) {
  return last > first ? first + (1 << treeHeight(last - first)) - 1 : -1;
}

TreePlace treePlace(int tree, int rank, int ranks) {
  auto rankAt = [&](int position) { return (position - tree + ranks) % ranks; };
  const int position = (rank + tree) % ranks;
  TreePlace place;
  int first = 0, last = ranks;
  for (int root = rootOf(first, last); root != position; root = rootOf(first, last)) {
    place.parent = rankAt(root);
    ++place.depth;
    if (position < root)
      last = root;
    else
      first = root + 1;
  }
  for (int child : {rootOf(first, position), rootOf(position + 1, last)})
    if (child >= 0)
      place.children.push_back(rankAt(child));
  return place;
}

Blocks treeBlocks(std::size_t bytes, std::size_t elementBytes) {
  // Segments are shorter than a ring's, because a pipeline as deep as the tree must fill.
  constexpr std::size_t longestSegment = 128u << 10;
  return Blocks(bytes > Transport::bufferedBytes ? 2 : 1, bytes, elementBytes, longestSegment);
}

} // namespace syncline::transport
