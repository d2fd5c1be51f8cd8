// A channel's schemes as NCCL calls and kernels on one stream.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/core/Range.h"
#include "runtime/cuda/nccl/NcclCommunicator.h"

#include <span>

namespace syncline::cuda {

/// The part of `rank` after a reduce-scatter. All parts have equally many elements, in rank order
/// and aligned to 16 bytes; the last rank also has the remaining elements.
core::Range shardOfRank(int rank, int ranks, std::size_t bytes, ElementType type);

/// Each call enqueues on the stream, returns when NCCL has enqueued too, and throws Failure. Only
/// f32 values are converted to the wire's type. All calls use the same scratch memory, one after
/// the other.
class NcclCollectives {
public:
  NcclCollectives(NcclCommunicator &communicator, cudaStream_t stream, core::WirePrecision wire)
      : communicator(communicator), stream(stream), wire(wire), ranks(communicator.size()),
        rank(communicator.rank()) {}

  /// Bytes of scratch memory for the calls below.
  std::int64_t sumScratch(std::size_t bytes) const;
  std::int64_t serverScratch(std::size_t bytes) const;
  std::int64_t gatherScratch(std::span<const core::GatherPart> parts) const;
  /// Sets the scratch memory, which has at least the needed bytes and is aligned to 16 bytes.
  /// Called before the others.
  void useScratch(std::byte *memory, std::int64_t bytes) { scratch = memory, scratchBytes = bytes; }

  /// Sums over the ranks, in place, by the algorithm that NCCL or its tuner chooses.
  void allReduce(void *data, std::size_t bytes, ElementType type);
  /// Sums over the ranks, in place, with colocated servers: each rank receives one part from all
  /// ranks, sums it in rank order and sends the sum back. f32 only.
  void sumByServers(void *data, std::size_t bytes, ElementType type);
  /// Sends each rank's parts to all ranks.
  void gather(std::span<const core::GatherPart> parts);
  /// Sums over the ranks into this rank's part, shardOfRank(). The other parts are
  /// undefined afterwards.
  void scatterSum(void *data, std::size_t bytes, ElementType type);
  /// Sends all parts to all ranks without conversion.
  void gatherShards(void *data, std::size_t bytes, ElementType type);
  /// One half of a sum, in place. By "ring" scatterSum(), then the parts to all ranks. The first
  /// half by "tree" is the whole all-reduce, so that it adds up in the order of the other sums by
  /// "tree" (NCCL's reduce would add up along a chain); the second one broadcasts rank 0's.
  void sumHalf(Scheme scheme, core::Half half, void *data, std::size_t bytes, ElementType type);

private:
  /// A message in the type in which it travels: address, number of elements, type.
  struct Travelling {
    std::byte *data;
    std::size_t count;
    ElementType type;
    std::size_t width; ///< bytes of an element
  };
  bool isRounded(ElementType type) const {
    return wire != core::WirePrecision::fp32 && type == ElementType::f32;
  }
  /// Whether a part is rounded for the way. Rows of a table, beside their numbers, are not.
  bool isRounded(const core::GatherPart &part, std::span<const core::GatherPart> parts) const;
  /// Rounds the message into scratch memory if the wire's type requires it.
  Travelling depart(void *data, std::size_t bytes, ElementType type);
  /// Converts elements [begin, end) back into `data`.
  void arrive(const Travelling &message, void *data, std::size_t begin, std::size_t end);
  std::byte *scratchAt(std::int64_t offset, std::int64_t bytes) const;
  /// Elements that one end of an exchange sends or receives.
  struct Piece {
    std::byte *data;
    std::size_t count;
  };
  /// Exchanges with all other ranks at once: sends the piece `sends(peer)` to each peer and
  /// receives the piece `receives(peer)` from it.
  template <typename Sends, typename Receives>
  void exchange(ncclDataType_t type, const Sends &sends, const Receives &receives);
  /// Sends all parts to all ranks in the message's type.
  void gatherParts(const Travelling &message);
  /// Sends rank 0's data to all ranks without conversion.
  void broadcast(void *data, std::size_t bytes, ElementType type);

  NcclCommunicator &communicator;
  cudaStream_t stream;
  core::WirePrecision wire;
  int ranks, rank;
  std::byte *scratch = nullptr;
  std::int64_t scratchBytes = 0;
};

} // namespace syncline::cuda
