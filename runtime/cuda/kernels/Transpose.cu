// Transposing matrices by tiles in shared memory, so that both sides are accessed in rows.
#include "runtime/cuda/kernels/Kernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

#include <type_traits>

namespace syncline::cuda {

namespace {

constexpr std::uint32_t side = 32, rowsAtOnce = threadsPerBlock / side;

std::uint32_t tilesAlong(std::uint32_t extent) { return (extent + side - 1) / side; }

template <typename To, typename From> __device__ To converted(const From &value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else
    return static_cast<To>(static_cast<float>(value));
}

/// to[batch, columns, rows] = from[batch, rows, columns], with one block for each tile.
template <typename To, typename From>
__global__ void turnKernel(To *to, const From *from, MatrixStack stack, std::uint32_t down,
                           std::uint32_t across) {
  __shared__ From tile[side][side + 1]; // so that columns lie in different banks
  const std::uint32_t lane = threadIdx.x % side, first = threadIdx.x / side;
  const std::uint64_t tiles = std::uint64_t{stack.count} * down * across;
  for (std::uint64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const std::uint64_t begin = number / (down * across) * stack.rows * stack.columns;
    const auto place = static_cast<std::uint32_t>(number % (down * across));
    const std::uint32_t row = place / across * side, column = place % across * side;
    for (std::uint32_t k = first; k < side; k += rowsAtOnce)
      if (row + k < stack.rows && column + lane < stack.columns)
        tile[k][lane] = from[begin + std::uint64_t{row + k} * stack.columns + column + lane];
    __syncthreads();
    for (std::uint32_t k = first; k < side; k += rowsAtOnce)
      if (column + k < stack.columns && row + lane < stack.rows)
        to[begin + std::uint64_t{column + k} * stack.rows + row + lane] =
            converted<To>(tile[lane][k]);
    __syncthreads(); // the next tile uses the same memory
  }
}

} // namespace

template <typename To, typename From>
cudaError_t turnMatrices(cudaStream_t stream, To *to, const From *from, const MatrixStack &stack) {
  const std::uint32_t down = tilesAlong(stack.rows), across = tilesAlong(stack.columns);
  const std::int64_t tiles = std::int64_t{stack.count} * down * across;
  return launch(turnKernel<To, From>, blocksFor(tiles * threadsPerBlock), stream, to, from, stack,
                down, across);
}

#define SYNCLINE_TURN(To, From)                                                                    \
  template cudaError_t turnMatrices(cudaStream_t, To *, const From *, const MatrixStack &);
SYNCLINE_TURN(float, float)
SYNCLINE_TURN(BFloat16, BFloat16)
SYNCLINE_TURN(BFloat16, float)
SYNCLINE_TURN(float, BFloat16)
SYNCLINE_TURN(std::uint8_t, std::uint8_t)

} // namespace syncline::cuda
