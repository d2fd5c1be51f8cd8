// Pooling. Each thread computes elements of the result, forward and backward. No two threads add to
// one element, so that the result has the same bits every time.
#include "runtime/cuda/kernels/Kernels.h"
#include "runtime/cuda/kernels/Launch.cuh"
#include "runtime/cuda/kernels/PoolBodies.h"

namespace syncline::cuda {

namespace {

template <int width, typename T, typename Tap>
__global__ void maxKernel(PoolMap map, const T *x, T *y, Tap *workspace, std::uint32_t packs) {
  forEachElement(packs, [&](std::int64_t i) {
    maxPoolAt<width>(map, x, y, workspace, static_cast<std::uint32_t>(i));
  });
}

template <int width, typename T, typename Tap>
__global__ void maxBackwardKernel(PoolMap map, const T *dy, const Tap *workspace, T *dx,
                                  std::uint32_t packs) {
  forEachElement(packs, [&](std::int64_t i) {
    maxPoolBackwardAt<width>(map, dy, workspace, dx, static_cast<std::uint32_t>(i));
  });
}

template <int width, typename T>
__global__ void averageKernel(PoolMap map, const T *x, T *y, std::uint32_t packs) {
  forEachElement(packs, [&](std::int64_t i) {
    averagePoolAt<width>(map, x, y, static_cast<std::uint32_t>(i));
  });
}

template <int width, typename T>
__global__ void averageBackwardKernel(PoolMap map, const T *dy, T *dx, std::uint32_t packs) {
  forEachElement(packs, [&](std::int64_t i) {
    averagePoolBackwardAt<width>(map, dy, dx, static_cast<std::uint32_t>(i));
  });
}

/// Calls launchBy.template operator()<width>(packs) with the largest possible number of interleaved
/// elements for each thread. Tensors begin at multiples of 64 bytes.
template <typename LaunchBy>
cudaError_t launchPacks(const PoolMap &map, std::uint32_t n, const LaunchBy &launchBy) {
  constexpr int width = 4;
  return map.inner % width == 0 ? launchBy.template operator()<width>(n / width)
                                : launchBy.template operator()<1>(n);
}

} // namespace

template <typename T, typename Tap>
cudaError_t maxPool(cudaStream_t stream, const PoolMap &map, const T *x, T *y, Tap *workspace,
                    std::uint32_t n) {
  const auto by = [&]<int width>(std::uint32_t packs) {
    return launch(maxKernel<width, T, Tap>, blocksFor(packs), stream, map, x, y, workspace, packs);
  };
  return launchPacks(map, n, by);
}

template <typename T, typename Tap>
cudaError_t maxPoolBackward(cudaStream_t stream, const PoolMap &map, const T *dy,
                            const Tap *workspace, T *dx, std::uint32_t n) {
  const auto by = [&]<int width>(std::uint32_t packs) {
    return launch(maxBackwardKernel<width, T, Tap>, blocksFor(packs), stream, map, dy, workspace,
                  dx, packs);
  };
  return launchPacks(map, n, by);
}

template <typename T>
cudaError_t averagePool(cudaStream_t stream, const PoolMap &map, const T *x, T *y,
                        std::uint32_t n) {
  const auto by = [&]<int width>(std::uint32_t packs) {
    return launch(averageKernel<width, T>, blocksFor(packs), stream, map, x, y, packs);
  };
  return launchPacks(map, n, by);
}

template <typename T>
cudaError_t averagePoolBackward(cudaStream_t stream, const PoolMap &map, const T *dy, T *dx,
                                std::uint32_t n) {
  const auto by = [&]<int width>(std::uint32_t packs) {
    return launch(averageBackwardKernel<width, T>, blocksFor(packs), stream, map, dy, dx, packs);
  };
  return launchPacks(map, n, by);
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
