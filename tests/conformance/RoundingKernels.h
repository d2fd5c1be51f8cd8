// Launches that convert n elements on a stream by runtime/cuda/kernels/Rounding.h. Pointers are to
// the device's memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::conformance {

cudaError_t roundAll(cudaStream_t stream, const float *from, std::uint16_t *bf16,
                     std::uint16_t *f16, std::int64_t n);
cudaError_t widenAll(cudaStream_t stream, const std::uint16_t *from, float *ofBf16, float *ofF16,
                     std::int64_t n);

} // namespace syncline::conformance
