// Kernels of messages: gradients rounded for the way and widened behind it, and the sums of
// colocated servers. As Kernels.h: launches on a stream, device pointers, nothing waits.
#pragma once

#include "runtime/core/Backend.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

/// Bytes of an element on its way.
constexpr std::int64_t wireBytes(WirePrecision wire) { return wire == WirePrecision::fp32 ? 4 : 2; }

/// n floats to bf16 or fp16, to the nearest, ties to even; what is too large for fp16 becomes
/// infinite. Fastest where both addresses are multiples of 16. Precondition: wire is not fp32.
cudaError_t roundToWire(cudaStream_t stream, const float *from, void *to, std::int64_t n,
                        WirePrecision wire);
/// The way back, exact.
cudaError_t widenFromWire(cudaStream_t stream, const void *from, float *to, std::int64_t n,
                          WirePrecision wire);

/// own = Σ over ranks of n elements, in rank order, in f32, rounded once: `own` holds what rank
/// `rank` adds, others[r · stride ..] what rank r does. Fastest where addresses and stride · bytes
/// are multiples of 16.
cudaError_t sumOfRanks(cudaStream_t stream, void *own, const void *others, std::int64_t stride,
                       int rank, int ranks, std::int64_t n, WirePrecision wire);

} // namespace syncline::cuda
