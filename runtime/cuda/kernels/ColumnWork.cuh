// How a launch divides a matrix among blocks, and its scratch memory.
#pragma once

#include "runtime/cuda/kernels/Columns.cuh"

#include <algorithm>

namespace syncline::cuda {

inline bool takesPacks(const BatchNormShape &shape) { return shape.channels % 4 == 0; }

inline Columns columnsOf(const BatchNormShape &shape) {
  return columnsOf(shape, takesPacks(shape) ? 4 : 1);
}

/// Memory for sums, and three coefficients for each channel.
struct Work {
  SumsMemory sums;
  float *gain, *slope, *offset;
};

/// The number of parts of the rows: enough blocks for a large device, with at least `rows` rows for
/// each thread.
inline std::uint32_t partsOf(const BatchNormShape &shape, std::uint32_t maxBlocks,
                             std::uint32_t rows) {
  const Columns by = columnsOf(shape);
  const std::uint32_t blocks = by.blocks(takesPacks(shape) ? 4 : 1);
  return std::max(1u, std::min(maxBlocks / blocks, shape.rows / (rows * by.lanes())));
}

/// The number of parts for sums. It is small, because the parts' sums are summed again; a pass over
/// elements may have more parts at no cost.
inline std::uint32_t sumParts(const BatchNormShape &shape) {
  return partsOf(shape, 1024, 2 * rowsAhead);
}
inline std::uint32_t elementParts(const BatchNormShape &shape) {
  return partsOf(shape, 4096, rowsAhead);
}

/// The number of sums of parts and of groups for each channel.
inline std::size_t keptSums(const BatchNormShape &shape) {
  const std::uint32_t parts = sumParts(shape);
  return std::size_t{parts} + groupsOf(parts);
}

/// Scratch memory holds the sums, then the coefficients.
inline Work workOf(const BatchNormShape &shape, const ColumnMemory &memory) {
  auto *parts = static_cast<Sums *>(memory.scratch);
  auto *gain = reinterpret_cast<float *>(parts + keptSums(shape) * shape.channels);
  return {{parts, parts + std::size_t{sumParts(shape)} * shape.channels, memory.counters},
          gain,
          gain + shape.channels,
          gain + 2 * std::size_t{shape.channels}};
}

} // namespace syncline::cuda
