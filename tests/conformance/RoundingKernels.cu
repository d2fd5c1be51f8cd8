// Conversions of arrays by the device's functions, for RoundingTest.cpp.
#include "runtime/cuda/kernels/Launch.cuh"
#include "runtime/cuda/kernels/Rounding.h"
#include "tests/conformance/RoundingKernels.h"

namespace syncline::conformance {

namespace {

__global__ void roundKernel(const float *from, std::uint16_t *bf16, std::uint16_t *f16,
                            std::int64_t n) {
  cuda::forEachElement(n, [&](std::int64_t i) {
    bf16[i] = cuda::roundedToBf16(from[i]);
    f16[i] = cuda::roundedToF16(from[i]);
  });
}

__global__ void widenKernel(const std::uint16_t *from, float *ofBf16, float *ofF16,
                            std::int64_t n) {
  cuda::forEachElement(n, [&](std::int64_t i) {
    ofBf16[i] = cuda::widenedBf16(from[i]);
    ofF16[i] = cuda::widenedF16(from[i]);
  });
}

} // namespace

cudaError_t roundAll(cudaStream_t stream, const float *from, std::uint16_t *bf16,
                     std::uint16_t *f16, std::int64_t n) {
  return cuda::launch(roundKernel, cuda::blocksFor(n), stream, from, bf16, f16, n);
}

cudaError_t widenAll(cudaStream_t stream, const std::uint16_t *from, float *ofBf16, float *ofF16,
                     std::int64_t n) {
  return cuda::launch(widenKernel, cuda::blocksFor(n), stream, from, ofBf16, ofF16, n);
}

} // namespace syncline::conformance
