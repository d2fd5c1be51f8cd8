// LAMB's kernels. All sums have a fixed order, so that equal runs have equal bits.
#include "runtime/core/Lamb.h"
#include "runtime/cuda/kernels/LambKernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// The sums over the block; all of its threads get them.
__device__ core::LambSquares blockSquares(const core::LambSquares &own) {
  core::LambSquares all;
  all.weights = blockSum(own.weights);
  __syncthreads(); // the next sum uses the same memory
  all.directions = blockSum(own.directions);
  __syncthreads();
  return all;
}

/// The sums of `blocks` blocks together.
__device__ core::LambSquares joined(const double *squares, std::uint32_t blocks) {
  core::LambSquares own;
  for (std::uint32_t i = threadIdx.x; i < blocks; i += blockDim.x) {
    own.weights += squares[2 * i];
    own.directions += squares[2 * i + 1];
  }
  return blockSquares(own);
}

__global__ void momentsKernel(const float *w, const float *g, float *m, float *v, std::int64_t n,
                              core::AdamConstants k, const UpdateClock *clock, const double *factor,
                              bool keepsFinite, double *squares) {
  core::correctLamb(k, clock->correction);
  if (factor)
    k.scale = static_cast<float>(*factor);
  core::LambSquares own;
  forEachElement(n, [&](std::int64_t i) {
    float first = m[i], second = v[i];
    core::lambMoments(g[i], first, second, k);
    const double weight = w[i];
    const double direction = core::lambDirection(w[i], first, second, k);
    const float excess = keepsFinite ? core::lambExcess(first, second) : 0;
    own.weights += weight * weight;
    own.directions += direction * direction + excess;
    if (excess == 0) {
      m[i] = first;
      v[i] = second;
    }
  });
  const core::LambSquares all = blockSquares(own);
  if (threadIdx.x == 0) {
    squares[2 * blockIdx.x] = all.weights;
    squares[2 * blockIdx.x + 1] = all.directions;
  }
}

__global__ void joinSquaresKernel(const double *squares, std::uint32_t blocks, double *sum) {
  const core::LambSquares all = joined(squares, blocks);
  if (threadIdx.x == 0) {
    sum[0] = all.weights;
    sum[1] = all.directions;
  }
}

/// `stepRate` is null where the rate is `rate`, `kept` where all elements are updated, `rounded`
/// where weights have no copies. Copies of elements that are kept are as they should be.
__global__ void weightsKernel(float *w, const float *m, const float *v, std::int64_t n,
                              core::AdamConstants k, double rate, const double *stepRate,
                              double rateFactor, const UpdateClock *clock, const double *squares,
                              std::uint32_t blocks, std::int32_t *kept, BFloat16 *rounded) {
  const core::LambSquares all = joined(squares, blocks);
  if (kept && core::isLambKept(all)) {
    if (threadIdx.x == 0)
      *kept = 1;
    return;
  }
  core::correctLamb(k, clock->correction);
  if (stepRate)
    rate = *stepRate * rateFactor;
  const auto step = static_cast<float>(rate * core::trustRatio(all));
  forEachElement(n, [&](std::int64_t i) {
    const float weight = w[i] - step * core::lambDirection(w[i], m[i], v[i], k);
    if (kept && weight - weight != 0) {
      *kept = 1;
      return;
    }
    w[i] = weight;
    if (rounded)
      rounded[i] = BFloat16(weight);
  });
}

} // namespace

std::uint32_t lambBlocks(std::int64_t n) {
  constexpr std::int64_t perBlock = 4 * threadsPerBlock;
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>((n + perBlock - 1) / perBlock, 1, maxLambBlocks));
}

cudaError_t lambMoments(cudaStream_t stream, const UpdateOperands &operands,
                        const core::OptimizerOptions &options, double scale,
                        const UpdateClock *clock, double *squares) {
  return launch(momentsKernel, lambBlocks(operands.n), stream, operands.parameters,
                operands.gradients, operands.state[0], operands.state[1], operands.n,
                core::adamConstants(options, scale), clock, operands.factor, options.keepsFinite,
                squares);
}

cudaError_t joinSquares(cudaStream_t stream, const double *squares, std::uint32_t blocks,
                        double *sum) {
  return launch(joinSquaresKernel, 1, stream, squares, blocks, sum);
}

cudaError_t lambWeights(cudaStream_t stream, const UpdateOperands &operands,
                        const core::OptimizerOptions &options, const UpdateClock *clock,
                        const double *squares, std::uint32_t blocks, std::int32_t *kept) {
  return launch(weightsKernel, blocksFor(operands.n), stream, operands.parameters,
                operands.state[0], operands.state[1], operands.n,
                core::adamConstants(options, /*scale=*/1), options.rate, operands.rate,
                operands.rateFactor, clock, squares, blocks, options.keepsFinite ? kept : nullptr,
                operands.rounded);
}

} // namespace syncline::cuda
