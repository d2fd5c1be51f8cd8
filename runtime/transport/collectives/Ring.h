// The collectives of a ring: reduce-scatter, all-gather, and both in one pass.
#pragma once

#include "runtime/transport/collectives/Blocks.h"
#include "runtime/transport/collectives/PeerLinks.h"

namespace syncline::core {
struct GatherPart; // runtime/core/StepTypes.h
}

namespace syncline::transport {

/// Every rank sends to its right neighbour and receives from its left neighbour. One thread at
/// a time uses a ring; all ranks call the same methods with the same lengths in the same order.
/// The number of ranks and the lengths are arbitrary. Errors: peerLost; badInput for a type
/// that has no sum.
class Ring {
public:
  /// Opens the links to both neighbours. All ranks call it together. `name` distinguishes
  /// several rings.
  static Result<std::unique_ptr<Ring>> create(Transport &transport, const std::string &name);

  int size() const { return ranks; }
  /// The block of rank `rank` in a message of `bytes` bytes, for reduceScatter() and allGather().
  core::Range blockOf(int rank, std::size_t bytes, ElementType type) const;

  /// Sums the message over the ranks and leaves each rank with the sum of its own block
  /// (blockOf()), in place. The other blocks hold partial sums afterwards. Takes P-1 steps; a rank
  /// sends (P-1)/P·N. Every element is summed once, in ring order.
  Status reduceScatter(void *data, std::size_t bytes, ElementType type);

  /// Each rank provides its own block, in place, and receives all others. Takes P-1 steps; a rank
  /// sends N less its right neighbour's block.
  Status allGather(void *data, std::size_t bytes, ElementType type);
  /// All-gather with blocks of any sizes, one for each rank, one behind the other. All ranks pass
  /// the same sizes.
  Status allGather(void *data, std::span<const std::size_t> sizes);
  /// All-gather of several parts as one message, in P-1 steps for any number of parts. In each part
  /// all ranks' blocks are equally long. Short blocks are packed together.
  Status allGather(std::span<const core::GatherPart> parts);

  /// reduceScatter() followed by allGather(), without a halt between them.
  Status allReduce(void *data, std::size_t bytes, ElementType type);

private:
  struct Pass;
  struct PartsPass;
  Status gatherPacked(std::span<const core::GatherPart> parts, std::size_t bytes);
  Ring(int rank, int ranks) : rank(rank), ranks(ranks) {}
  Blocks blocks(std::size_t bytes, ElementType type) const;

  const int rank, ranks;
  std::unique_ptr<PeerLinks> links;
};

} // namespace syncline::transport
