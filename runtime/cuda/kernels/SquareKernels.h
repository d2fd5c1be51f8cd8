// Kernels for the norm of all gradients. As in Kernels.h, functions launch on a stream, take device
// pointers and do not wait. Sums are in double and in an order that depends on the counts alone.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

/// The most blocks of sumSquares(), each of which writes one double to scratch memory.
inline constexpr std::uint32_t squareBlocks = 1024;

/// *sum = Σ values². `scratch` has squareBlocks doubles.
cudaError_t sumSquares(cudaStream_t stream, const float *values, std::int64_t n, double *scratch,
                       double *sum);
/// *sum = Σ terms.
cudaError_t sumTerms(cudaStream_t stream, const double *terms, std::uint32_t count, double *sum);

/// What finds the factor by which updates multiply gradients, which are sums over the ranks.
struct ClippedMean {
  double meanScale; ///< makes the mean of a sum
  double limit;     ///< of the mean gradients' norm
};
/// norm = meanScale · √(*parts + Σ whole); `norm` may be memory of the host that the device can
/// write. *factor = meanScale · core::clipFactor(norm, limit).
cudaError_t findFactor(cudaStream_t stream, const double *whole, std::uint32_t count,
                       const double *parts, const ClippedMean &mean, double *norm, double *factor);

} // namespace syncline::cuda
