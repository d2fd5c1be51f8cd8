// Kernels of LAMB's two passes over one parameter or a part of it. As in Kernels.h, functions
// launch on a stream, take device pointers and do not wait.
#pragma once

#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

/// The most blocks that add up squares of one parameter; each has the two numbers of a
/// core::LambSquares in memory.
inline constexpr std::uint32_t maxLambBlocks = 256;
/// The number of blocks for n elements, which does not depend on the device.
std::uint32_t lambBlocks(std::int64_t n);

/// Stores the moments of an update, whose gradients are first multiplied by `scale`, and each
/// block's sums of squares. Where options.keepsFinite keeps an element's moments, a sum is NaN.
cudaError_t lambMoments(cudaStream_t stream, const UpdateOperands &operands,
                        const core::OptimizerOptions &options, double scale,
                        const UpdateClock *clock, double *squares);
/// sum = the sums of `blocks` blocks together, in a fixed order.
cudaError_t joinSquares(cudaStream_t stream, const double *squares, std::uint32_t blocks,
                        double *sum);
/// Updates the weights by the stored moments and the sums over the whole parameter, in `blocks`
/// blocks. `kept` as updateElements() has it.
cudaError_t lambWeights(cudaStream_t stream, const UpdateOperands &operands,
                        const core::OptimizerOptions &options, const UpdateClock *clock,
                        const double *squares, std::uint32_t blocks, std::int32_t *kept);

} // namespace syncline::cuda
