// What a channel's schemes are as NCCL's calls and kernels of ours, on one stream.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/core/Range.h"
#include "runtime/cuda/NcclCommunicator.h"

#include <span>

namespace syncline::cuda {

/// `rank`'s part of a message that reduce-scatter leaves in parts: equally many elements each, in
/// rank order, so that each part is aligned to 16 bytes; the last rank also has what is left over.
Range shardOfRank(int rank, int ranks, std::size_t bytes, ElementType type);

/// Each call enqueues on the stream and returns when NCCL has, too; throws Failure. What is not f32
/// travels as it is, whatever the wire. Calls use one scratch memory, one behind the other.
class NcclCollectives {
public:
  NcclCollectives(NcclCommunicator &communicator, cudaStream_t stream, WirePrecision wire)
      : communicator(communicator), stream(stream), wire(wire), ranks(communicator.size()),
        rank(communicator.rank()) {}

  /// What the calls below need of scratch.
  std::int64_t sumScratch(std::size_t bytes) const;
  std::int64_t serverScratch(std::size_t bytes) const;
  std::int64_t gatherScratch(std::span<const GatherPart> parts) const;
  /// To be called before the others: at least as much as they need, aligned to 16 bytes.
  void useScratch(std::byte *memory, std::int64_t bytes) { scratch = memory, scratchBytes = bytes; }

  /// The sum over ranks, in place, by the algorithm that NCCL or its tuner chooses.
  void allReduce(void *data, std::size_t bytes, ElementType type);
  /// The same: each rank serves one part, sums what all send it in rank order and sends the sum
  /// back. f32 only.
  void sumByServers(void *data, std::size_t bytes, ElementType type);
  /// Each rank's parts to all.
  void gather(std::span<const GatherPart> parts);
  /// The sum over ranks in this rank's part, shardOfRank(); other parts are whatever they come to.
  void scatterSum(void *data, std::size_t bytes, ElementType type);
  /// All parts to all, as they are.
  void gatherShards(void *data, std::size_t bytes, ElementType type);

private:
  /// A message on its way: where, how many elements, of which type.
  struct Travelling {
    std::byte *data;
    std::size_t count;
    ElementType type;
    std::size_t width; ///< bytes an element
  };
  bool isRounded(ElementType type) const {
    return wire != WirePrecision::fp32 && type == ElementType::f32;
  }
  /// Rounds the message into scratch where it travels so.
  Travelling depart(void *data, std::size_t bytes, ElementType type);
  /// [begin, end) elements of it back to where they came from.
  void arrive(const Travelling &message, void *data, std::size_t begin, std::size_t end);
  std::byte *scratchAt(std::int64_t offset, std::int64_t bytes) const;
  /// Elements that one end of an exchange sends or receives.
  struct Piece {
    std::byte *data;
    std::size_t count;
  };
  /// With each other rank at once: `sends(peer)` to it, `receives(peer)` from it, both Pieces.
  template <typename Sends, typename Receives>
  void exchange(ncclDataType_t type, const Sends &sends, const Receives &receives);

  NcclCommunicator &communicator;
  cudaStream_t stream;
  WirePrecision wire;
  int ranks, rank;
  std::byte *scratch = nullptr;
  std::int64_t scratchBytes = 0;
};

} // namespace syncline::cuda
