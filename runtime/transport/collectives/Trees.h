// Two binary trees over the ranks in which nearly nobody is an inner node twice.
#pragma once

#include "runtime/transport/collectives/Blocks.h"

#include <vector>

namespace syncline {

struct TreePlace {
  int parent = -1; ///< -1 for the root
  int depth = 0;   ///< edges to the root
  std::vector<int> children;
};

/// A rank's place in tree 0 or 1. Tree 0 has the odd ranks inside and the even ones as leaves, tree
/// 1 is the same with rank + 1 in the place of rank.
TreePlace treePlace(int tree, int rank, int ranks);

/// The depth of both trees' deepest places at most: floor(log2 ranks).
int treeHeight(int ranks);

/// How a message is cut: a block a tree, one tree for what fits into the network's buffers. The
/// compiler prices the same cut (passes/problem/TreeCost.h).
Blocks treeBlocks(std::size_t bytes, std::size_t elementBytes);

} // namespace syncline
