// Sums of squares, and the factor that clips gradients by their norm.
#include "runtime/core/Clipping.h"
#include "runtime/cuda/kernels/Launch.cuh"
#include "runtime/cuda/kernels/SquareKernels.h"

#include <cmath>

namespace syncline::cuda {

namespace {

__global__ void squaresKernel(const float *values, std::int64_t n, double *scratch) {
  double own = 0;
  forEachElement(n, [&](std::int64_t i) {
    const double value = values[i];
    own += value * value;
  });
  const double sum = blockSum(own);
  if (threadIdx.x == 0)
    scratch[blockIdx.x] = sum;
}

/// The sum over one block, which thread 0 gets.
__device__ double blockSumOf(const double *terms, std::uint32_t count) {
  double own = 0;
  for (std::uint32_t i = threadIdx.x; i < count; i += threadsPerBlock)
    own += terms[i];
  return blockSum(own);
}

/// Launched with one block.
__global__ void termsKernel(const double *terms, std::uint32_t count, double *sum) {
  const double all = blockSumOf(terms, count);
  if (threadIdx.x == 0)
    *sum = all;
}

/// Launched with one block.
__global__ void factorKernel(const double *whole, std::uint32_t count, const double *parts,
                             ClippedMean mean, double *norm, double *factor) {
  const double sum = blockSumOf(whole, count);
  if (threadIdx.x != 0)
    return;
  const double found = sqrt(*parts + sum) * mean.meanScale;
  *norm = found;
  *factor = mean.meanScale * core::clipFactor(found, mean.limit);
}

} // namespace

cudaError_t sumSquares(cudaStream_t stream, const float *values, std::int64_t n, double *scratch,
                       double *sum) {
  const std::uint32_t blocks = blocksFor(n) < squareBlocks ? blocksFor(n) : squareBlocks;
  const cudaError_t launched = launch(squaresKernel, blocks, stream, values, n, scratch);
  return launched == cudaSuccess ? sumTerms(stream, scratch, blocks, sum) : launched;
}

cudaError_t sumTerms(cudaStream_t stream, const double *terms, std::uint32_t count, double *sum) {
  return launch(termsKernel, 1, stream, terms, count, sum);
}

cudaError_t findFactor(cudaStream_t stream, const double *whole, std::uint32_t count,
                       const double *parts, const ClippedMean &mean, double *norm, double *factor) {
  return launch(factorKernel, 1, stream, whole, count, parts, mean, norm, factor);
}

} // namespace syncline::cuda
