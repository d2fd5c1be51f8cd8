// Two binary trees over the ranks, in which hardly any rank is an inner node of both: where the
// runtime sends messages by them, and what the compiler takes that for.
#pragma once

#include <bit>
#include <vector>

namespace syncline {

/// A rank's place in tree 0 or 1. The root's parent is -1; children stand left to right.
struct TreePlace {
  int parent = -1;
  int depth = 0; ///< edges to the root
  std::vector<int> children;
};

/// Edges from the root to the deepest rank: floor(log2 ranks). Precondition: ranks >= 1.
inline int treeHeight(int ranks) { return std::bit_width(static_cast<unsigned>(ranks)) - 1; }

/// The place of `rank`. Tree 0 is a binary search tree over the ranks. A subtree's left part is
/// full, so that its leaves, and by induction all leaves, are even ranks. In tree 1 every rank has
/// the place of rank + 1. Precondition: 0 <= rank < ranks.
inline TreePlace treePlace(int tree, int rank, int ranks) {
  // The root of the subtree over positions [first, last); -1 when it is empty.
  const auto rootOf = [](int first, int last) {
    return last > first ? first + (1 << treeHeight(last - first)) - 1 : -1;
  };
  const auto rankAt = [&](int position) { return (position - tree + ranks) % ranks; };
  const int position = (rank + tree) % ranks;
  TreePlace place;
  int first = 0, last = ranks;
  for (int root = rootOf(first, last); root != position; root = rootOf(first, last)) {
    place.parent = rankAt(root);
    ++place.depth;
    (position < root ? last : first) = position < root ? root : root + 1;
  }
  for (const int child : {rootOf(first, position), rootOf(position + 1, last)})
    if (child >= 0)
      place.children.push_back(rankAt(child));
  return place;
}

} // namespace syncline
