// TreeCost: the runtime's all-reduce by trees (runtime/transport/collectives/TreeAllReduce.h): how
// it cuts a message, which rank stands where, what that costs. Formula: README.md, "The tree".
//
// Units: seconds and bytes. Functions are pure and thread-safe.
#pragma once

#include "passes/problem/CollectiveCost.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace syncline::problem {

/// The longest message that one tree carries.
inline constexpr std::int64_t oneTreeBytes = 32 << 10;

/// A message's parts: each tree carries bytes / trees, in so many equal segments, one behind the
/// other.
struct TreeCut {
  int trees = 1;
  std::int64_t segments = 1;
};

/// Up to 32 KiB one tree and one segment; beyond, half of the message over each of two trees. A
/// half above 64 KiB goes in at least two segments, and a segment has at most 128 KiB.
/// Precondition: bytes >= 0.
TreeCut treeCut(std::int64_t bytes);

/// A rank's place in tree 0 or 1: -1 for the root's parent; children left to right.
struct TreePlace {
  int parent = -1;
  int depth = 0; ///< edges to the root
  std::vector<int> children;
};

/// Tree 0 is a binary search tree over the ranks whose left parts are full, so that even ranks are
/// its leaves; tree 1 is the same with rank + 1 in the place of rank. Precondition: 0 <= rank <
/// ranks.
TreePlace treePlace(int tree, int rank, int ranks);

/// Edges from the root to the deepest rank: floor(log2 ranks). Precondition: ranks >= 1.
int treeHeight(int ranks);

/// Straight pieces that never fall: where a finer cut makes a longer message faster, its cost is
/// the shorter one's. Preconditions as formulaCost.
std::shared_ptr<const CollectiveCost> treeCost(int ranks, const LinkRates &rates);

/// Bytes that the busiest rank sends and receives, both together, per byte of a message of `bytes`.
double treeTraffic(int ranks, std::int64_t bytes);

/// How many times a long message passes the cards of a node each way, where `devices` ranks in a
/// row are a node: of the busiest node, half a message an edge of one of the trees that leaves it.
/// 2 for four nodes or more of one device; 5 for as many of 4 or 8.
double treeCardLoad(int nodes, int devices);

} // namespace syncline::problem
