// What the kernels of batch normalization's two passes share.
#pragma once

#include "runtime/cuda/kernels/ColumnWork.cuh"

namespace syncline::cuda {

/// Blocks for which a multiprocessor has registers: 64 a thread. With three, as some kernels take
/// more if they may, fewer loads would be under way than the memory can answer.
inline constexpr int blocksEach = 4;

/// Rows of bf16 that are added in f32 before they are added in double. Most devices have one unit
/// for doubles where they have 64 for floats, and would not keep up with the memory. The squares of
/// numbers with 8 bits are exact in f32, and sums of a few of them right to 2^-24.
template <typename T, std::uint32_t rows>
inline constexpr std::uint32_t rowsTogether = std::is_same_v<T, BFloat16> ? rows : 1;

/// NaN counts as positive, as in PyTorch.
__device__ inline bool isPositive(float value) { return !(value <= 0); }

/// A coefficient for each of this thread's channels; 0 for channels beyond the last one.
template <int width>
__device__ Pack<float, width> loadCoefficients(const Columns &by, const float *from) {
  const Column<width> at(by);
  return at.channel < by.channels ? loadPack<width>(from + at.channel) : Pack<float, width>{};
}

/// The grid of a kernel that adds up columns.
inline dim3 sumGrid(const BatchNormShape &shape) {
  return dim3(columnsOf(shape).blocks(takesPacks(shape) ? 4 : 1), sumParts(shape));
}

} // namespace syncline::cuda
