// How a message is cut for the two trees of TreePlace.h.
#pragma once

#include "runtime/transport/collectives/Blocks.h"
#include "syncline/TreePlace.h"

namespace syncline::transport {

/// Cuts a message into one block for each tree. A message that fits into the network's buffers uses
/// one tree. The compiler's cost model uses the same cut (passes/problem/TreeCost.h).
Blocks treeBlocks(std::size_t bytes, std::size_t elementBytes);

} // namespace syncline::transport
