// Resizing: each thread computes elements of the result, so that it has the same bits every time.
#include "runtime/cuda/kernels/Launch.cuh"
#include "runtime/cuda/kernels/ResampleKernels.h"

namespace syncline::cuda {

namespace {

template <typename T>
__global__ void resampleKernel(ResampleMap map, const T *x, T *y, std::uint32_t n) {
  forEachElement(
      n, [&](std::int64_t i) { y[i] = static_cast<T>(map.sum(x, static_cast<std::uint32_t>(i))); });
}

} // namespace

template <typename T>
cudaError_t resample(cudaStream_t stream, const ResampleMap &map, const T *x, T *y,
                     std::uint32_t n) {
  return launch(resampleKernel<T>, blocksFor(n), stream, map, x, y, n);
}

template cudaError_t resample(cudaStream_t, const ResampleMap &, const float *, float *,
                              std::uint32_t);
template cudaError_t resample(cudaStream_t, const ResampleMap &, const BFloat16 *, BFloat16 *,
                              std::uint32_t);

} // namespace syncline::cuda
