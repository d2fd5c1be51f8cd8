// Pooling: a thread an element of the result, forward and backward; nothing is added from two
// threads, so that the same bits come out every time.
#include "runtime/cuda/Kernels.h"
#include "runtime/cuda/Launch.cuh"

namespace syncline::cuda {

namespace {

template <typename Tap>
__global__ void maxKernel(PoolMap map, const float *x, float *y, Tap *workspace, std::uint32_t n) {
  forEachElement(
      n, [&](std::int64_t i) { maxPoolAt(map, x, y, workspace, static_cast<std::uint32_t>(i)); });
}

template <typename Tap>
__global__ void maxBackwardKernel(PoolMap map, const float *dy, const Tap *workspace, float *dx,
                                  std::uint32_t n) {
  forEachElement(n, [&](std::int64_t i) {
    maxPoolBackwardAt(map, dy, workspace, dx, static_cast<std::uint32_t>(i));
  });
}

__global__ void averageKernel(PoolMap map, const float *x, float *y, std::uint32_t n) {
  forEachElement(n,
                 [&](std::int64_t i) { averagePoolAt(map, x, y, static_cast<std::uint32_t>(i)); });
}

__global__ void averageBackwardKernel(PoolMap map, const float *dy, float *dx, std::uint32_t n) {
  forEachElement(n, [&](std::int64_t i) {
    averagePoolBackwardAt(map, dy, dx, static_cast<std::uint32_t>(i));
  });
}

} // namespace

template <typename Tap>
cudaError_t maxPool(cudaStream_t stream, const PoolMap &map, const float *x, float *y,
                    Tap *workspace, std::uint32_t n) {
  return launch(maxKernel<Tap>, blocksFor(n), stream, map, x, y, workspace, n);
}

template <typename Tap>
cudaError_t maxPoolBackward(cudaStream_t stream, const PoolMap &map, const float *dy,
                            const Tap *workspace, float *dx, std::uint32_t n) {
  return launch(maxBackwardKernel<Tap>, blocksFor(n), stream, map, dy, workspace, dx, n);
}

template cudaError_t maxPool(cudaStream_t, const PoolMap &, const float *, float *, std::uint8_t *,
                             std::uint32_t);
template cudaError_t maxPool(cudaStream_t, const PoolMap &, const float *, float *, std::int32_t *,
                             std::uint32_t);
template cudaError_t maxPoolBackward(cudaStream_t, const PoolMap &, const float *,
                                     const std::uint8_t *, float *, std::uint32_t);
template cudaError_t maxPoolBackward(cudaStream_t, const PoolMap &, const float *,
                                     const std::int32_t *, float *, std::uint32_t);

cudaError_t averagePool(cudaStream_t stream, const PoolMap &map, const float *x, float *y,
                        std::uint32_t n) {
  return launch(averageKernel, blocksFor(n), stream, map, x, y, n);
}

cudaError_t averagePoolBackward(cudaStream_t stream, const PoolMap &map, const float *dy, float *dx,
                                std::uint32_t n) {
  return launch(averageBackwardKernel, blocksFor(n), stream, map, dy, dx, n);
}

} // namespace syncline::cuda
