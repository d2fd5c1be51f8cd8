// Two binary trees over the ranks, in which hardly any rank is an inner node of both.
#pragma once

#include "runtime/transport/collectives/Blocks.h"

#include <vector>

namespace syncline::transport {

struct TreePlace {
  int parent = -1; ///< -1 for the root
  int depth = 0;   ///< edges to the root
  std::vector<int> children;
};

/// A rank's place in tree 0 or 1. Tree 0 has odd ranks as inner nodes and even ranks as leaves; in
/// tree 1 every rank has the place of rank + 1.
TreePlace treePlace(int tree, int rank, int ranks);

/// An upper bound on the depth of both trees: floor(log2 ranks).
int treeHeight(int ranks);

/// Cuts a message into one block for each tree. A message that fits into the network's buffers uses
/// one tree. The compiler's cost model uses the same cut (passes/problem/TreeCost.h).
Blocks treeBlocks(std::size_t bytes, std::size_t elementBytes);

} // namespace syncline::transport
