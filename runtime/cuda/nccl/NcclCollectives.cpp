// The schemes by NCCL.
#include "runtime/cuda/nccl/NcclCollectives.h"

#include "runtime/cuda/kernels/WireKernels.h"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// Alignment of messages in scratch memory and of servers' parts, for accesses of 16 bytes in
/// any type.
constexpr std::int64_t alignment = 16;
constexpr std::int64_t aligned(std::int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}
constexpr std::size_t shardUnit = 8; // elements

std::size_t widthOf(ElementType type) { return static_cast<std::size_t>(core::elementBytes(type)); }

/// The elements, of n, that `server` sums.
core::Range servedBy(int server, int ranks, std::size_t n) {
  const std::size_t units = (n + shardUnit - 1) / shardUnit;
  const auto at = [&](int r) {
    return std::min(n, units * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks) *
                           shardUnit);
  };
  return {at(server), at(server + 1)};
}

/// The number of elements of the longest part.
std::size_t maxServed(int ranks, std::size_t n) {
  const std::size_t units = (n + shardUnit - 1) / shardUnit;
  const auto servers = static_cast<std::size_t>(ranks);
  return (units + servers - 1) / servers * shardUnit;
}

/// Elements of each rank's part of n, except for the last rank, which also has the remaining ones.
/// It is a multiple of 16 bytes, so that every part is aligned.
std::size_t shardLength(int ranks, std::size_t n) {
  return n / static_cast<std::size_t>(ranks) / shardUnit * shardUnit;
}

} // namespace

core::Range shardOfRank(int rank, int ranks, std::size_t bytes, ElementType type) {
  const std::size_t width = widthOf(type), n = bytes / width;
  const std::size_t each = shardLength(ranks, n);
  const std::size_t begin = each * static_cast<std::size_t>(rank);
  return {begin * width, rank == ranks - 1 ? bytes : (begin + each) * width};
}

std::int64_t NcclCollectives::sumScratch(std::size_t bytes) const {
  return wire == core::WirePrecision::fp32
             ? 0
             : aligned(static_cast<std::int64_t>(bytes / sizeof(float)) * wireBytes(wire));
}

std::int64_t NcclCollectives::serverScratch(std::size_t bytes) const {
  const auto part = static_cast<std::int64_t>(maxServed(ranks, bytes / sizeof(float)));
  return sumScratch(bytes) + ranks * part * wireBytes(wire);
}

bool NcclCollectives::isRounded(const core::GatherPart &part,
                                std::span<const core::GatherPart> parts) const {
  return isRounded(part.type) && std::ranges::none_of(parts, [](const core::GatherPart &each) {
           return each.type == ElementType::i64;
         });
}

std::int64_t NcclCollectives::gatherScratch(std::span<const core::GatherPart> parts) const {
  std::int64_t sum = 0;
  for (const core::GatherPart &part : parts)
    if (isRounded(part, parts))
      sum += sumScratch(static_cast<std::size_t>(part.bytes * ranks));
  return sum;
}

std::byte *NcclCollectives::scratchAt(std::int64_t offset, std::int64_t bytes) const {
  if (offset + bytes > scratchBytes)
    throw Failure{ErrorKind::internal, "a message needs " + std::to_string(offset + bytes) +
                                           " bytes of scratch, its channel has " +
                                           std::to_string(scratchBytes)};
  return scratch + offset;
}

NcclCollectives::Travelling NcclCollectives::depart(void *data, std::size_t bytes,
                                                    ElementType type) {
  const std::size_t count = bytes / widthOf(type);
  if (!isRounded(type))
    return {static_cast<std::byte *>(data), count, type, widthOf(type)};
  std::byte *const to = scratchAt(0, sumScratch(bytes));
  SYNCLINE_CHECK(roundToWire(stream, static_cast<const float *>(data), to,
                             static_cast<std::int64_t>(count), wire));
  const ElementType narrow =
      wire == core::WirePrecision::bf16 ? ElementType::bf16 : ElementType::f16;
  return {to, count, narrow, widthOf(narrow)};
}

void NcclCollectives::arrive(const Travelling &message, void *data, std::size_t begin,
                             std::size_t end) {
  if (message.data == data)
    return;
  SYNCLINE_CHECK(widenFromWire(stream, message.data + begin * message.width,
                               static_cast<float *>(data) + begin,
                               static_cast<std::int64_t>(end - begin), wire));
}

void NcclCollectives::allReduce(void *data, std::size_t bytes, ElementType type) {
  const Travelling message = depart(data, bytes, type);
  communicator.group([&] {
    SYNCLINE_CHECK_ON(communicator.handle(), ncclAllReduce(message.data, message.data,
                                                           message.count, ncclTypeOf(message.type),
                                                           ncclSum, communicator.handle(), stream));
  });
  arrive(message, data, 0, message.count);
}

template <typename Sends, typename Receives>
void NcclCollectives::exchange(ncclDataType_t type, const Sends &sends, const Receives &receives) {
  const ncclComm_t comm = communicator.handle();
  communicator.group([&] {
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == rank)
        continue;
      if (const Piece piece = sends(peer); piece.count > 0)
        SYNCLINE_CHECK_ON(comm, ncclSend(piece.data, piece.count, type, peer, comm, stream));
      if (const Piece piece = receives(peer); piece.count > 0)
        SYNCLINE_CHECK_ON(comm, ncclRecv(piece.data, piece.count, type, peer, comm, stream));
    }
  });
}

void NcclCollectives::sumByServers(void *data, std::size_t bytes, ElementType type) {
  if (type != ElementType::f32)
    throw Failure{ErrorKind::badInput,
                  "scheme 'parameter-server': expected element type f32, got " +
                      std::string(core::elementName(type))};
  const Travelling message = depart(data, bytes, type);
  const std::size_t stride = maxServed(ranks, message.count);
  std::byte *const others =
      scratchAt(sumScratch(bytes), static_cast<std::int64_t>(stride * message.width) * ranks);
  const auto partOf = [&](int server) {
    const core::Range part = servedBy(server, ranks, message.count);
    return Piece{message.data + part.begin * message.width, part.size()};
  };
  const Piece own = partOf(rank);
  exchange(ncclTypeOf(message.type), partOf, [&](int peer) {
    return Piece{others + static_cast<std::size_t>(peer) * stride * message.width, own.count};
  });
  SYNCLINE_CHECK(sumOfRanks(stream, own.data, others, static_cast<std::int64_t>(stride), rank,
                            ranks, static_cast<std::int64_t>(own.count), wire));
  exchange(ncclTypeOf(message.type), [&](int) { return own; }, partOf);
  arrive(message, data, 0, message.count);
}

void NcclCollectives::gather(std::span<const core::GatherPart> parts) {
  struct Gathered {
    std::byte *data;
    std::size_t ownBytes; ///< bytes of one rank
  };
  std::vector<Gathered> buffers;
  std::int64_t used = 0;
  for (const core::GatherPart &part : parts) {
    const auto bytes = static_cast<std::size_t>(part.bytes);
    auto *const data = static_cast<std::byte *>(part.data);
    if (!isRounded(part, parts)) {
      buffers.push_back({data, bytes});
      continue;
    }
    const std::int64_t all = sumScratch(bytes * static_cast<std::size_t>(ranks));
    const auto count = part.bytes / static_cast<std::int64_t>(sizeof(float));
    buffers.push_back({scratchAt(used, all), static_cast<std::size_t>(count * wireBytes(wire))});
    used += all;
    SYNCLINE_CHECK(roundToWire(stream, reinterpret_cast<const float *>(data + rank * part.bytes),
                               buffers.back().data + rank * count * wireBytes(wire), count, wire));
  }
  communicator.group([&] {
    for (const Gathered &each : buffers)
      SYNCLINE_CHECK_ON(communicator.handle(),
                        ncclAllGather(each.data + static_cast<std::size_t>(rank) * each.ownBytes,
                                      each.data, each.ownBytes, ncclUint8, communicator.handle(),
                                      stream));
  });
  // This rank's own part is converted too, so that all ranks compute with the same numbers.
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (isRounded(parts[i], parts))
      SYNCLINE_CHECK(
          widenFromWire(stream, buffers[i].data, static_cast<float *>(parts[i].data),
                        parts[i].bytes / static_cast<std::int64_t>(sizeof(float)) * ranks, wire));
}

void NcclCollectives::scatterSum(void *data, std::size_t bytes, ElementType type) {
  const Travelling message = depart(data, bytes, type);
  const ncclComm_t comm = communicator.handle();
  const std::size_t each = shardLength(ranks, message.count);
  const std::size_t whole = each * static_cast<std::size_t>(ranks);
  std::byte *const own = message.data + static_cast<std::size_t>(rank) * each * message.width;
  std::byte *const rest = message.data + whole * message.width;
  communicator.group([&] {
    if (each > 0)
      SYNCLINE_CHECK_ON(comm, ncclReduceScatter(message.data, own, each, ncclTypeOf(message.type),
                                                ncclSum, comm, stream));
    if (message.count > whole)
      SYNCLINE_CHECK_ON(comm,
                        ncclReduce(rest, rest, message.count - whole, ncclTypeOf(message.type),
                                   ncclSum, ranks - 1, comm, stream));
  });
  const core::Range shard = shardOfRank(rank, ranks, bytes, type);
  arrive(message, data, shard.begin / widthOf(type), shard.end / widthOf(type));
}

void NcclCollectives::broadcast(void *data, std::size_t bytes, ElementType type) {
  communicator.group([&] {
    SYNCLINE_CHECK_ON(communicator.handle(),
                      ncclBroadcast(data, data, bytes / widthOf(type), ncclTypeOf(type), /*root=*/0,
                                    communicator.handle(), stream));
  });
}

void NcclCollectives::gatherParts(const Travelling &message) {
  const ncclComm_t comm = communicator.handle();
  const ncclDataType_t type = ncclTypeOf(message.type);
  const std::size_t each = shardLength(ranks, message.count);
  const std::size_t whole = each * static_cast<std::size_t>(ranks);
  std::byte *const rest = message.data + whole * message.width;
  communicator.group([&] {
    if (each > 0)
      SYNCLINE_CHECK_ON(
          comm, ncclAllGather(message.data + static_cast<std::size_t>(rank) * each * message.width,
                              message.data, each, type, comm, stream));
    if (message.count > whole)
      SYNCLINE_CHECK_ON(
          comm, ncclBroadcast(rest, rest, message.count - whole, type, ranks - 1, comm, stream));
  });
}

void NcclCollectives::gatherShards(void *data, std::size_t bytes, ElementType type) {
  const std::size_t width = widthOf(type);
  gatherParts({static_cast<std::byte *>(data), bytes / width, type, width});
}

void NcclCollectives::sumHalf(Scheme scheme, core::Half half, void *data, std::size_t bytes,
                              ElementType type) {
  const bool isFirst = half == core::Half::first;
  if (scheme == Scheme::tree)
    return isFirst ? allReduce(data, bytes, type) : broadcast(data, bytes, type);
  if (scheme != Scheme::ring)
    throw Failure{ErrorKind::internal, "no halves of sums by this scheme"};
  if (isFirst)
    return scatterSum(data, bytes, type);
  // This rank's part has the wire's precision already; what else the message has is overwritten.
  const Travelling message = depart(data, bytes, type);
  gatherParts(message);
  arrive(message, data, 0, message.count);
}

} // namespace syncline::cuda
