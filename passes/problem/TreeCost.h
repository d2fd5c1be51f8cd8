// TreeCost: the runtime's all-reduce by trees (runtime/transport/collectives/TreeAllReduce.cpp):
// how it cuts a message, and what that costs. README.md, "The tree", has
// the formula.
//
// Units: seconds and bytes. Functions are pure and thread-safe.
#pragma once

#include "passes/problem/CollectiveCost.h"
#include "syncline/TreePlace.h"

#include <cstdint>
#include <memory>

namespace syncline::problem {

/// The longest message that one tree carries.
inline constexpr std::int64_t oneTreeBytes = 32 << 10;

/// How a message is cut: each tree carries bytes / trees, in `segments` equal segments that follow
/// each other.
struct TreeCut {
  int trees = 1;
  std::int64_t segments = 1;
};

/// The cut of a message. Up to 32 KiB it has one tree and one segment. Beyond, each of two trees
/// carries half of the message; a half above 64 KiB has at least two segments, and a segment has at
/// most 128 KiB. Precondition: bytes >= 0.
TreeCut treeCut(std::int64_t bytes);

/// The tree's cost, in straight pieces that never fall: where a finer cut makes a longer message
/// faster, it costs as much as the shorter one. Preconditions: as formulaCost.
std::shared_ptr<const CollectiveCost> treeCost(int ranks, const LinkRates &rates);

/// Bytes that the busiest rank sends and receives, both together, per byte of a message of `bytes`.
double treeTraffic(int ranks, std::int64_t bytes);

/// How many times a long message passes the cards of the busiest node each way, where each node
/// holds `devices` consecutive ranks. Each edge of one of the two trees that leaves the node
/// carries half of the message. The result is 2 for four or more nodes of one device, 5 for as many
/// nodes of 4 or 8.
double treeCardLoad(int nodes, int devices);

} // namespace syncline::problem
