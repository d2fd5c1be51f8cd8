// Losses and their gradients, with sums in double and in a fixed order.
#include "runtime/core/Labels.h"
#include "runtime/cuda/kernels/ElementBodies.h"
#include "runtime/cuda/kernels/Kernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

namespace syncline::cuda {

namespace {

constexpr unsigned lanes = 32;

__global__ void squaredErrorKernel(const float *y, const float *target, float *dy, std::int64_t n,
                                   double scale, double *scratch) {
  double own = 0;
  forEachElement(n, [&](std::int64_t i) {
    float gradient;
    own += squaredError(y[i], target[i], static_cast<double>(n), gradient, scale);
    if (dy)
      dy[i] = gradient;
  });
  const double sum = blockSum(own);
  if (threadIdx.x == 0)
    scratch[blockIdx.x] = sum;
}

/// log Σ exp over the classes of a position, by a warp; every lane gets it.
__device__ double warpLogSum(const float *logits, std::uint32_t classes, std::uint32_t inner) {
  LogSum own;
  for (std::uint32_t k = threadIdx.x % lanes; k < classes; k += lanes)
    own.add(logits[static_cast<std::int64_t>(k) * inner]);
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    LogSum other;
    other.largest = __shfl_xor_sync(0xFFFFFFFFu, own.largest, distance);
    other.sum = __shfl_xor_sync(0xFFFFFFFFu, own.sum, distance);
    own = LogSum::join(own, other);
  }
  return own.value();
}

__device__ double weightOf(const float *weights, std::int64_t k) {
  return weights ? weights[k] : 1;
}

/// Σ weight·logit over the classes of a position, by a warp; every lane gets it.
__device__ double warpSum(const float *logits, const float *weights, std::uint32_t classes,
                          std::uint32_t inner) {
  double own = 0;
  for (std::uint32_t k = threadIdx.x % lanes; k < classes; k += lanes)
    own += weightOf(weights, k) * logits[static_cast<std::int64_t>(k) * inner];
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    own += __shfl_xor_sync(0xFFFFFFFFu, own, distance);
  return own;
}

/// What the labels that count weigh, ones out of range 1, and then what all classes weigh. Launched
/// with one block.
__global__ void countKernel(const std::int64_t *target, std::uint32_t positions,
                            std::uint32_t classes, CrossEntropyTerms terms, double *counted) {
  double own = 0;
  for (std::uint32_t i = threadIdx.x; i < positions; i += threadsPerBlock)
    if (target[i] != core::ignoredLabel)
      own += target[i] >= 0 && target[i] < classes ? weightOf(terms.weights, target[i]) : 1;
  const double sum = blockSum(own);
  if (threadIdx.x == 0)
    counted[0] = sum == 0 && terms.isWeighed ? 1 : sum;
  double ofClasses = 0;
  for (std::uint32_t k = threadIdx.x; k < classes; k += threadsPerBlock)
    ofClasses += weightOf(terms.weights, k);
  const double all = blockSum(ofClasses);
  if (threadIdx.x == 0)
    counted[1] = all;
}

/// One warp for each position; scratch memory receives the positions' shares of the mean. Behind
/// them it holds what countKernel() has found.
__global__ void crossEntropyKernel(const float *logits, const std::int64_t *target, float *dlogits,
                                   std::uint32_t positions, std::uint32_t classes,
                                   std::uint32_t inner, CrossEntropyTerms terms, double *scratch) {
  const double ofEach = terms.smoothing / classes;
  const std::uint32_t warps = gridDim.x * (threadsPerBlock / lanes);
  const double counted = scratch[positions], ofClasses = ofEach * scratch[positions + 1];
  for (std::uint32_t number = (blockIdx.x * threadsPerBlock + threadIdx.x) / lanes;
       number < positions; number += warps) {
    const CrossEntropyPosition at = crossEntropyPosition(target, number, classes, inner);
    const float *own = logits + at.start;
    const bool isKnown = at.label >= 0 && at.label < classes;
    const bool isIgnored = at.label == core::ignoredLabel;
    const double sum = warpLogSum(own, classes, inner);
    const double total = isKnown ? sum : static_cast<double>(NAN);
    const double ofLabel = isKnown ? (1 - terms.smoothing) * weightOf(terms.weights, at.label) : 1;
    const double ofAll = ofLabel + ofClasses;
    for (std::uint32_t k = threadIdx.x % lanes; dlogits && k < classes; k += lanes) {
      const std::int64_t place = static_cast<std::int64_t>(k) * inner;
      const double wanted = ofEach * weightOf(terms.weights, k) + (k == at.label ? ofLabel : 0);
      dlogits[at.start + place] =
          isIgnored ? 0
                    : crossEntropyGradient(own[place], total, wanted, counted, terms.scale, ofAll);
    }
    const double smoothed =
        terms.smoothing != 0 ? ofEach * warpSum(own, terms.weights, classes, inner) : 0;
    const double loss =
        isKnown ? ofAll * total - ofLabel * own[at.label * inner] - smoothed : total;
    if (threadIdx.x % lanes == 0)
      scratch[number] = (isIgnored ? 0 : loss) / counted;
  }
}

} // namespace

cudaError_t meanSquaredError(cudaStream_t stream, const float *y, const float *target, float *loss,
                             float *dy, std::int64_t n, double scale, double *scratch) {
  const unsigned blocks = blocksFor(n) < errorBlocks ? blocksFor(n) : errorBlocks;
  const cudaError_t launched =
      launch(squaredErrorKernel, blocks, stream, y, target, dy, n, scale, scratch);
  if (launched != cudaSuccess)
    return launched;
  return meanOfParts(stream, scratch, blocks, static_cast<double>(n), loss);
}

cudaError_t crossEntropy(cudaStream_t stream, const float *logits, const std::int64_t *target,
                         float *loss, float *dlogits, const core::AxisView &view,
                         const CrossEntropyTerms &terms, double *scratch) {
  const auto positions = static_cast<std::uint32_t>(view.outer * view.inner);
  cudaError_t launched =
      launch(countKernel, 1, stream, target, positions, view.extent, terms, scratch + positions);
  if (launched != cudaSuccess)
    return launched;
  launched =
      launch(crossEntropyKernel, blocksFor(static_cast<std::int64_t>(positions) * lanes), stream,
             logits, target, dlogits, positions, view.extent, view.inner, terms, scratch);
  if (launched != cudaSuccess)
    return launched;
  return meanOfParts(stream, scratch, positions, 1, loss); // a sum of shares
}

} // namespace syncline::cuda
