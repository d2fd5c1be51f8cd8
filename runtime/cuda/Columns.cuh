// Sums over the columns of matrices [rows, channels] in a fixed order, by blocks of 256 threads.
#pragma once

#include "runtime/cuda/BatchNormKernels.h"
#include "runtime/cuda/Launch.cuh"

namespace syncline::cuda {

/// A block works on so many neighbouring packs of channels, each of which has so many of its
/// threads. A pack is `width` channels: four, or one where channels are no multiple of four.
inline constexpr std::uint32_t columns = 32, lanes = threadsPerBlock / columns;

/// Two sums, of every channel.
struct Sums {
  double first = 0, second = 0;
};

/// A thread's place: its first channel, and which of the channel's threads it is.
template <int width> struct Column {
  std::uint32_t channel = (blockIdx.x * columns + threadIdx.x % columns) * width;
  std::uint32_t lane = threadIdx.x / columns;
};

/// The sums of a channel's threads in a fixed order; lane 0 has them. All threads call it.
__device__ inline Sums sumOfLanes(const Sums &own) {
  __shared__ Sums all[threadsPerBlock];
  all[threadIdx.x] = own;
  __syncthreads();
  Sums sum;
  if (threadIdx.x < columns)
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      sum.first += all[lane * columns + threadIdx.x].first;
      sum.second += all[lane * columns + threadIdx.x].second;
    }
  __syncthreads(); // the next sums use the same memory
  return sum;
}

/// Calls add(sums, element) for the elements at which this thread's packs begin, where sums are one
/// a channel of the pack, and stores the block's sums: blockIdx.y is the part.
template <int width, typename Add>
__device__ void sumColumns(const BatchNormShape &shape, Sums *parts, const Add &add) {
  const Column<width> at;
  const auto begin = [&](std::uint32_t part) {
    return static_cast<std::uint32_t>(std::uint64_t{shape.rows} * part / gridDim.y);
  };
  Sums own[width];
  if (at.channel < shape.channels)
    for (std::uint32_t row = begin(blockIdx.y) + at.lane; row < begin(blockIdx.y + 1); row += lanes)
      add(own, std::int64_t{row} * shape.channels + at.channel);
  for (int k = 0; k < width; ++k) {
    const Sums sum = sumOfLanes(own[k]);
    if (at.lane == 0 && at.channel < shape.channels)
      parts[std::size_t{blockIdx.y} * shape.channels + at.channel + k] = sum;
  }
}

/// Calls use(channel, sums over all parts) for every channel, by one of its threads.
template <typename Use>
__device__ void forEachChannel(const BatchNormShape &shape, const Sums *parts, std::uint32_t count,
                               const Use &use) {
  const Column<1> at;
  Sums own;
  if (at.channel < shape.channels)
    for (std::uint32_t part = at.lane; part < count; part += lanes) {
      own.first += parts[std::size_t{part} * shape.channels + at.channel].first;
      own.second += parts[std::size_t{part} * shape.channels + at.channel].second;
    }
  const Sums sums = sumOfLanes(own);
  if (at.lane == 0 && at.channel < shape.channels)
    use(at.channel, sums);
}

} // namespace syncline::cuda
