// The ring's collectives: reduce-scatter, all-gather, and both in one pass.
#pragma once

#include "runtime/transport/collectives/Blocks.h"
#include "runtime/transport/collectives/PeerLinks.h"

namespace syncline {

struct GatherPart; // runtime/core/StepTypes.h

/// Every rank sends to its right neighbour and receives from its left one. One thread at a time;
/// all ranks call the same methods with the same lengths in the same order. Any number of ranks and
/// any length will do. Errors: peerLost; badInput for a type that has no sum.
class Ring {
public:
  /// Opens the links to both neighbours; all ranks together. `name` tells several rings apart.
  static Result<std::unique_ptr<Ring>> create(Transport &transport, const std::string &name);

  /// The block of rank `rank` in a message of N bytes that reduceScatter() and allGather() deal
  /// out.
  Range blockOf(int rank, std::size_t bytes, ElementType type) const;

  /// Sums the message over the ranks; each rank is left with the sum of its own block, blockOf(),
  /// in place. The other blocks hold partial sums afterwards. P-1 steps, (P-1)/P·N sent a rank.
  /// Every element is summed once, in ring order.
  Status reduceScatter(void *data, std::size_t bytes, ElementType type);

  /// Each rank brings its own block, in place, and is left with all. P-1 steps, N less the right
  /// neighbour's block sent a rank.
  Status allGather(void *data, std::size_t bytes, ElementType type);
  /// The same with blocks of any sizes, one a rank, one behind the other; the same on all ranks.
  Status allGather(void *data, std::span<const std::size_t> sizes);
  /// The same with blocks that lie in several places, equally long on all ranks in each: one
  /// message, P-1 steps whatever the number of places. Short ones are packed together.
  Status allGather(std::span<const GatherPart> parts);

  /// reduceScatter() and allGather() without a halt between them.
  Status allReduce(void *data, std::size_t bytes, ElementType type);

private:
  struct Pass;
  struct PartsPass;
  Status gatherPacked(std::span<const GatherPart> parts, std::size_t bytes);
  Ring(int rank, int ranks) : rank(rank), ranks(ranks) {}
  Blocks blocks(std::size_t bytes, ElementType type) const;

  const int rank, ranks;
  std::unique_ptr<PeerLinks> links;
};

} // namespace syncline
