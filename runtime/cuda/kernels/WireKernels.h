// Kernels for messages: rounding gradients before a message, widening them after it, and the sums
// of colocated servers. As in Kernels.h, functions launch on a stream, take device pointers and do
// not wait.
#pragma once

#include "runtime/core/Backend.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

/// Bytes of an element in a message.
constexpr std::int64_t wireBytes(core::WirePrecision wire) {
  return wire == core::WirePrecision::fp32 ? 4 : 2;
}

/// Rounds n floats to bf16 or fp16, to the nearest, ties to even. Values too large for fp16 become
/// infinite. Fastest where both addresses are multiples of 16. Precondition: wire is not fp32.
cudaError_t roundToWire(cudaStream_t stream, const float *from, void *to, std::int64_t n,
                        core::WirePrecision wire);
/// Converts n elements back to float, exactly.
cudaError_t widenFromWire(cudaStream_t stream, const void *from, float *to, std::int64_t n,
                          core::WirePrecision wire);

/// own = Σ over ranks of n elements, in rank order, in f32, rounded once. `own` holds the values of
/// rank `rank`, and others[r · stride ..] those of rank r. Fastest where addresses and stride ·
/// bytes are multiples of 16.
cudaError_t sumOfRanks(cudaStream_t stream, void *own, const void *others, std::int64_t stride,
                       int rank, int ranks, std::int64_t n, core::WirePrecision wire);

} // namespace syncline::cuda
