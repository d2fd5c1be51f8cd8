// What the kernels of batch normalization's two passes share.
#pragma once

#include "runtime/cuda/ColumnWork.cuh"

namespace syncline::cuda {

/// Blocks for which a multiprocessor has registers: 64 a thread. With three, as some kernels take
/// more if they may, fewer loads would be under way than the memory can answer.
inline constexpr int blocksEach = 4;

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
