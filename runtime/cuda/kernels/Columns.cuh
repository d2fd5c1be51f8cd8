// Loops over the columns of matrices [rows, channels] and their sums in a fixed order, by blocks of
// 256 threads. A thread keeps its channels and moves from row to row.
#pragma once

#include "runtime/cuda/kernels/BatchNormKernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

namespace syncline::cuda {

/// Rows that a thread loads before it uses the first one. Memory answers after hundreds of cycles,
/// and one load at a time would leave most of its bandwidth unused.
inline constexpr std::uint32_t rowsAhead = 4;

/// How blocks share a matrix. A block works on 2^columnBits neighbouring packs of channels, and its
/// threads are divided among the packs. A pack has `width` channels: four, or one where the number
/// of channels is no multiple of four.
struct Columns {
  std::uint32_t channels, columnBits;

  SYNCLINE_HOST_DEVICE std::uint32_t columns() const { return 1u << columnBits; }
  SYNCLINE_HOST_DEVICE std::uint32_t lanes() const { return threadsPerBlock >> columnBits; }
  std::uint32_t blocks(std::uint32_t width) const {
    return (channels + (width << columnBits) - 1) / (width << columnBits);
  }
};

/// Chooses 32, 16 or 8 packs for each block, so that the fewest threads are idle.
inline Columns columnsOf(const BatchNormShape &shape, std::uint32_t width) {
  Columns best{shape.channels, 5};
  for (std::uint32_t bits : {4u, 3u})
    if (const Columns other{shape.channels, bits};
        other.blocks(width) * other.columns() < best.blocks(width) * best.columns())
      best = other;
  return best;
}

/// The most parts of a channel whose sums one thread loads before it adds them.
inline constexpr std::uint32_t partsAhead = 4;
/// Parts are added in groups of as many, then the groups: 1024 parts in two short rounds.
inline constexpr std::uint32_t partsInGroup = 32;

SYNCLINE_HOST_DEVICE inline std::uint32_t groupsOf(std::uint32_t parts) {
  return (parts + partsInGroup - 1) / partsInGroup;
}

/// Two sums for each channel.
struct alignas(16) Sums {
  double first, second;
};

/// Two sums of a few rows, in f32.
struct RowSums {
  float first = 0, second = 0;
};

/// Memory for the sums of a matrix. Counters are 0 between kernels.
struct SumsMemory {
  Sums *parts;             ///< [parts, channels]
  Sums *groups;            ///< [groups, channels], used where there are several
  std::uint32_t *counters; ///< [blocks.x, groups + 1], used where there are several parts
};

/// A thread's first channel, and its number among the channel's threads.
template <int width> struct Column {
  std::uint32_t channel, lane;

  __device__ explicit Column(const Columns &by)
      : channel(((blockIdx.x << by.columnBits) + (threadIdx.x & (by.columns() - 1))) * width),
        lane(threadIdx.x >> by.columnBits) {}
};

/// Adds the sums of all threads of a channel, in a fixed order; lane 0 gets the result. All threads
/// call it, and wait for each other before they use `all` again.
template <int width>
__device__ inline void sumLanes(const Columns &by, Sums (&own)[width],
                                Sums (*all)[threadsPerBlock]) {
  for (int k = 0; k < width; ++k)
    all[k][threadIdx.x] = own[k];
  for (std::uint32_t half = threadsPerBlock / 2; half >= by.columns(); half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      for (int k = 0; k < width; ++k) {
        all[k][threadIdx.x].first += all[k][threadIdx.x + half].first;
        all[k][threadIdx.x].second += all[k][threadIdx.x + half].second;
      }
  }
  for (int k = 0; k < width; ++k)
    own[k] = all[k][threadIdx.x];
}

/// Whether this block is the last of `count` blocks to call it. The last one sees what the others
/// wrote before, and sets the counter back to 0. All threads of a block call it.
__device__ inline bool isLastOf(std::uint32_t *counter, std::uint32_t count) {
  __shared__ bool isLast;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    isLast = atomicInc(counter, count - 1) == count - 1;
  __syncthreads();
  if (isLast)
    __threadfence();
  return isLast;
}

/// Calls use(element, step, loaded, n) for groups of n packs of this thread in successive rows of
/// this part of the gridDim.y parts: `loaded[k]` is load(element + k * step). Groups have
/// `together` rows, and one at the part's end. `use` must not change what is loaded later. A thread
/// loads `ahead` rows, a multiple of `together`, before it uses the first one.
template <int width, std::uint32_t ahead, std::uint32_t together, typename Load, typename Use>
__device__ void forEachGroup(const BatchNormShape &shape, const Columns &by, std::uint32_t part,
                             const Load &load, const Use &use) {
  static_assert(ahead % together == 0);
  const Column<width> at(by);
  if (at.channel >= shape.channels)
    return;
  const std::uint32_t each = shape.rows / gridDim.y, more = shape.rows % gridDim.y;
  const auto begin = [&](std::uint32_t of) { return of * each + (of < more ? of : more); };
  const std::uint32_t end = begin(part + 1), lanes = by.lanes();
  const std::uint32_t step = lanes * shape.channels; // elements from one row to the next
  std::uint32_t row = begin(part) + at.lane, i = row * shape.channels + at.channel;
  const auto loadAndUse = [&]<std::uint32_t rows, std::uint32_t group>() {
    for (; row + (rows - 1) * lanes < end; row += rows * lanes, i += rows * step) {
      decltype(load(i)) loaded[rows];
      for (std::uint32_t k = 0; k < rows; ++k)
        loaded[k] = load(i + k * step);
      for (std::uint32_t k = 0; k < rows; k += group)
        use(i + k * step, step, loaded + k, group);
    }
  };
  loadAndUse.template operator()<ahead, together>();
  if constexpr (together > 1 && together < ahead)
    loadAndUse.template operator()<together, together>();
  loadAndUse.template operator()<1, 1>();
}

/// Calls use(element, load(element)) for the first element of each of this thread's packs, row
/// after row, as forEachGroup() does.
template <int width, std::uint32_t ahead = rowsAhead, typename Load, typename Use>
__device__ void forEachRow(const BatchNormShape &shape, const Columns &by, std::uint32_t part,
                           const Load &load, const Use &use) {
  forEachGroup<width, ahead, 1>(
      shape, by, part, load,
      [&](std::uint32_t i, std::uint32_t, const auto *loaded, std::uint32_t) { use(i, *loaded); });
}

/// The sums over `count` parts for one channel of this block, whose lane 0 gets the result. A pack
/// of `by` is one channel.
__device__ inline Sums sumOfParts(const Columns &by, const Sums *parts, std::uint32_t count,
                                  Sums (*all)[threadsPerBlock]) {
  const Column<1> at(by);
  Sums own[1] = {};
  if (at.channel < by.channels)
    for (std::uint32_t first = at.lane; first < count; first += partsAhead * by.lanes()) {
      Sums ahead[partsAhead];
      for (std::uint32_t k = 0; k < partsAhead; ++k) {
        const std::uint32_t part = first + k * by.lanes();
        // A part is loaded even if it does not count, to avoid a branch between the loads.
        ahead[k] = parts[std::size_t{part < count ? part : first} * by.channels + at.channel];
        if (part >= count)
          ahead[k] = {};
      }
      for (const Sums &sums : ahead) {
        own[0].first += sums.first;
        own[0].second += sums.second;
      }
    }
  sumLanes(by, own, all);
  return own[0];
}

/// The part for a block of a kernel that follows sums of the same rows: the last ones first, since
/// the caches still have them. Blocks begin about in the order of their numbers.
__device__ inline std::uint32_t partFromTheEnd() { return gridDim.y - 1 - blockIdx.y; }

/// Calls add(sums, load(element)) for all packs, with one entry of `sums` for each channel of the
/// pack, then use(channel, sums over all rows) once for each channel. If `together` is above 1,
/// `add` gets RowSums for so many rows, which are then added in double. The block that is last
/// among the parts of a group adds these, and the last of those the groups. The order of additions
/// is fixed, whichever block is last.
template <int width, std::uint32_t together = 1, std::uint32_t ahead = rowsAhead, typename Load,
          typename Add, typename Use>
__device__ void sumColumns(const BatchNormShape &shape, const Columns &by, const SumsMemory &memory,
                           const Load &load, const Add &add, const Use &use) {
  __shared__ Sums all[width][threadsPerBlock];
  Sums own[width] = {};
  forEachGroup<width, ahead, together>(
      shape, by, blockIdx.y, load,
      [&](std::uint32_t, std::uint32_t, const auto *loaded, std::uint32_t n) {
        if constexpr (together == 1) {
          add(own, *loaded);
        } else {
          RowSums rows[width];
          for (std::uint32_t k = 0; k < n; ++k)
            add(rows, loaded[k]);
          for (int k = 0; k < width; ++k) {
            own[k].first += rows[k].first;
            own[k].second += rows[k].second;
          }
        }
      });
  sumLanes(by, own, all);
  const Column<width> at(by);
  const bool isFirstLane = at.lane == 0 && at.channel < shape.channels;
  const std::uint32_t parts = gridDim.y;
  if (parts == 1) {
    for (int k = 0; isFirstLane && k < width; ++k)
      use(at.channel + k, own[k]);
    return;
  }
  for (int k = 0; isFirstLane && k < width; ++k)
    memory.parts[std::size_t{blockIdx.y} * shape.channels + at.channel + k] = own[k];

  const Columns single{by.channels, by.columnBits + (width == 4 ? 2 : 0)};
  const Column<1> of(single);
  const bool hasChannel = of.lane == 0 && of.channel < shape.channels;
  const std::uint32_t groups = groupsOf(parts), group = blockIdx.y / partsInGroup;
  const std::uint32_t first = group * partsInGroup;
  const std::uint32_t inGroup = parts - first < partsInGroup ? parts - first : partsInGroup;
  std::uint32_t *const counters = memory.counters + blockIdx.x * (groups + 1);
  if (!isLastOf(counters + group, inGroup))
    return;
  Sums sums = sumOfParts(single, memory.parts + std::size_t{first} * shape.channels, inGroup, all);
  if (groups > 1) {
    if (hasChannel)
      memory.groups[std::size_t{group} * shape.channels + of.channel] = sums;
    if (!isLastOf(counters + groups, groups))
      return;
    sums = sumOfParts(single, memory.groups, groups, all);
  }
  if (hasChannel)
    use(of.channel, sums);
}

} // namespace syncline::cuda
