// Layer normalization: a block for each row, then a thread for each column.
#include "runtime/cuda/kernels/LayerNormKernels.h"

#include "runtime/cuda/kernels/IndexMaps.h"
#include "runtime/cuda/kernels/Launch.cuh"

#include <algorithm>
#include <cmath>

namespace syncline::cuda {

namespace {

struct RowStatistics {
  double mean, inverseDeviation;
};

struct ColumnSums {
  double dscale, dshift;
};

/// blockSum() for every thread, and once more with the same memory.
__device__ double sumOfRow(double own) {
  const double sum = blockSum(own);
  __syncthreads();
  return sum;
}

__device__ RowStatistics statisticsOf(const LayerNormShape &shape, const float *x) {
  double own = 0;
  for (std::uint32_t i = threadIdx.x; i < shape.columns; i += threadsPerBlock)
    own += x[i];
  const double mean = sumOfRow(own) / shape.columns;
  own = 0;
  for (std::uint32_t i = threadIdx.x; i < shape.columns; i += threadsPerBlock)
    own += (x[i] - mean) * (x[i] - mean);
  return {mean, 1 / std::sqrt(sumOfRow(own) / shape.columns + shape.epsilon)};
}

__global__ void forwardKernel(LayerNormShape shape, const float *x, const float *scale,
                              const float *shift, float *y) {
  for (std::uint32_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
    const std::int64_t at = std::int64_t{row} * shape.columns;
    const RowStatistics of = statisticsOf(shape, x + at);
    for (std::uint32_t i = threadIdx.x; i < shape.columns; i += threadsPerBlock)
      y[at + i] = static_cast<float>((x[at + i] - of.mean) * of.inverseDeviation * scale[i] +
                                     (shift ? shift[i] : 0.0f));
  }
}

/// dx = (g - mean(g) - x̂·mean(g·x̂)) / σ, where g = dy·scale; and the rows' statistics.
__global__ void rowsKernel(LayerNormShape shape, LayerNormBackward of, RowStatistics *statistics) {
  for (std::uint32_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
    const std::int64_t at = std::int64_t{row} * shape.columns;
    const RowStatistics own = statisticsOf(shape, of.x + at);
    if (threadIdx.x == 0)
      statistics[row] = own;
    if (!of.dx)
      continue;
    const auto gradient = [&](std::uint32_t i) {
      return static_cast<double>(of.dy[at + i]) * of.scale[i];
    };
    const auto normal = [&](std::uint32_t i) {
      return (of.x[at + i] - own.mean) * own.inverseDeviation;
    };
    double first = 0, second = 0;
    for (std::uint32_t i = threadIdx.x; i < shape.columns; i += threadsPerBlock) {
      first += gradient(i);
      second += gradient(i) * normal(i);
    }
    first = sumOfRow(first) / shape.columns;
    second = sumOfRow(second) / shape.columns;
    for (std::uint32_t i = threadIdx.x; i < shape.columns; i += threadsPerBlock)
      of.dx[at + i] =
          static_cast<float>((gradient(i) - first - normal(i) * second) * own.inverseDeviation);
  }
}

/// Sums of a part of the rows, which is blockIdx.y.
__global__ void columnsKernel(LayerNormShape shape, LayerNormBackward of,
                              const RowStatistics *statistics, ColumnSums *parts) {
  const std::uint32_t first = partBegin(shape.rows, gridDim.y, blockIdx.y);
  const std::uint32_t last = partBegin(shape.rows, gridDim.y, blockIdx.y + 1);
  forEachElement(shape.columns, [&](std::int64_t column) {
    ColumnSums sums{0, 0};
    for (std::uint32_t row = first; row < last; ++row) {
      const std::int64_t at = std::int64_t{row} * shape.columns + column;
      sums.dscale +=
          of.dy[at] * ((of.x[at] - statistics[row].mean) * statistics[row].inverseDeviation);
      sums.dshift += of.dy[at];
    }
    parts[std::int64_t{blockIdx.y} * shape.columns + column] = sums;
  });
}

__global__ void joinColumnsKernel(LayerNormShape shape, LayerNormBackward of,
                                  const ColumnSums *parts, std::uint32_t count) {
  forEachElement(shape.columns, [&](std::int64_t column) {
    ColumnSums sums{0, 0};
    for (std::uint32_t part = 0; part < count; ++part) {
      const ColumnSums &own = parts[std::int64_t{part} * shape.columns + column];
      sums.dscale += own.dscale;
      sums.dshift += own.dshift;
    }
    if (of.dscale)
      of.dscale[column] = static_cast<float>(sums.dscale);
    if (of.dshift)
      of.dshift[column] = static_cast<float>(sums.dshift);
  });
}

unsigned rowBlocks(const LayerNormShape &shape) { return std::min(shape.rows, 1u << 20); }

/// Enough parts of the rows for a large device, but none of few rows.
std::uint32_t partsOf(const LayerNormShape &shape) {
  constexpr std::uint32_t wanted = 1024, maxParts = 256, least = 32;
  return std::clamp(std::min(wanted / blocksFor(shape.columns), shape.rows / least), 1u, maxParts);
}

} // namespace

cudaError_t layerNorm(cudaStream_t stream, const LayerNormShape &shape, const float *x,
                      const float *scale, const float *shift, float *y) {
  return launch(forwardKernel, rowBlocks(shape), stream, shape, x, scale, shift, y);
}

std::int64_t layerNormScratch(const LayerNormShape &shape) {
  return static_cast<std::int64_t>(sizeof(RowStatistics)) * shape.rows +
         static_cast<std::int64_t>(sizeof(ColumnSums)) * partsOf(shape) * shape.columns;
}

cudaError_t layerNormBackward(cudaStream_t stream, const LayerNormShape &shape,
                              const LayerNormBackward &operands, void *scratch) {
  auto *const statistics = static_cast<RowStatistics *>(scratch);
  auto *const parts = reinterpret_cast<ColumnSums *>(statistics + shape.rows);
  cudaError_t launched = launch(rowsKernel, rowBlocks(shape), stream, shape, operands, statistics);
  if (launched != cudaSuccess || (!operands.dscale && !operands.dshift))
    return launched;
  const std::uint32_t count = partsOf(shape);
  launched = launch(columnsKernel, dim3(blocksFor(shape.columns), count), stream, shape, operands,
                    statistics, parts);
  if (launched != cudaSuccess)
    return launched;
  return launch(joinColumnsKernel, blocksFor(shape.columns), stream, shape, operands, parts, count);
}

} // namespace syncline::cuda
