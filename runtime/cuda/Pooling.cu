// Pooling: a thread an element of the result, forward and backward; nothing is added from two
// threads, so that the same bits come out every time.
#include "runtime/cuda/Kernels.h"
#include "runtime/cuda/Launch.cuh"

namespace syncline::cuda {

namespace {

template <typename T, typename Tap>
__global__ void maxKernel(PoolMap map, const T *x, T *y, Tap *workspace, std::uint32_t n) {
  forEachElement(
      n, [&](std::int64_t i) { maxPoolAt(map, x, y, workspace, static_cast<std::uint32_t>(i)); });
}

template <typename T, typename Tap>
__global__ void maxBackwardKernel(PoolMap map, const T *dy, const Tap *workspace, T *dx,
                                  std::uint32_t n) {
  forEachElement(n, [&](std::int64_t i) {
    maxPoolBackwardAt(map, dy, workspace, dx, static_cast<std::uint32_t>(i));
  });
}

template <typename T>
__global__ void averageKernel(PoolMap map, const T *x, T *y, std::uint32_t n) {
  forEachElement(n,
                 [&](std::int64_t i) { averagePoolAt(map, x, y, static_cast<std::uint32_t>(i)); });
}

template <typename T>
__global__ void averageBackwardKernel(PoolMap map, const T *dy, T *dx, std::uint32_t n) {
  forEachElement(n, [&](std::int64_t i) {
    averagePoolBackwardAt(map, dy, dx, static_cast<std::uint32_t>(i));
  });
}

} // namespace

template <typename T, typename Tap>
cudaError_t maxPool(cudaStream_t stream, const PoolMap &map, const T *x, T *y, Tap *workspace,
                    std::uint32_t n) {
  return launch(maxKernel<T, Tap>, blocksFor(n), stream, map, x, y, workspace, n);
}

template <typename T, typename Tap>
cudaError_t maxPoolBackward(cudaStream_t stream, const PoolMap &map, const T *dy,
                            const Tap *workspace, T *dx, std::uint32_t n) {
  return launch(maxBackwardKernel<T, Tap>, blocksFor(n), stream, map, dy, workspace, dx, n);
}

template <typename T>
cudaError_t averagePool(cudaStream_t stream, const PoolMap &map, const T *x, T *y,
                        std::uint32_t n) {
  return launch(averageKernel<T>, blocksFor(n), stream, map, x, y, n);
}

template <typename T>
cudaError_t averagePoolBackward(cudaStream_t stream, const PoolMap &map, const T *dy, T *dx,
                                std::uint32_t n) {
  return launch(averageBackwardKernel<T>, blocksFor(n), stream, map, dy, dx, n);
}

using std::int32_t, std::uint32_t, std::uint8_t;
#define SYNCLINE_POOLS(T)                                                                          \
  template cudaError_t maxPool(cudaStream_t, const PoolMap &, const T *, T *, uint8_t *,           \
                               uint32_t);                                                          \
  template cudaError_t maxPool(cudaStream_t, const PoolMap &, const T *, T *, int32_t *,           \
                               uint32_t);                                                          \
  template cudaError_t maxPoolBackward(cudaStream_t, const PoolMap &, const T *, const uint8_t *,  \
                                       T *, uint32_t);                                             \
  template cudaError_t maxPoolBackward(cudaStream_t, const PoolMap &, const T *, const int32_t *,  \
                                       T *, uint32_t);                                             \
  template cudaError_t averagePool(cudaStream_t, const PoolMap &, const T *, T *, uint32_t);       \
  template cudaError_t averagePoolBackward(cudaStream_t, const PoolMap &, const T *, T *, uint32_t);
SYNCLINE_POOLS(float)
SYNCLINE_POOLS(BFloat16)

} // namespace syncline::cuda
