// Sums over any dimensions, in double and in a fixed order, so that the result has the same bits
// every time.
#include "runtime/cuda/kernels/Kernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// The destination of sums: y, or scratch memory [parts, results] for several parts.
struct Sums {
  float *y;
  double *scratch;
  double divisor;
  std::uint32_t parts;

  __device__ void store(const ReduceMap &map, std::uint32_t result, std::uint32_t part,
                        double sum) const {
    if (parts == 1)
      y[result] = static_cast<float>(sum / divisor);
    else
      scratch[static_cast<std::int64_t>(part) * map.results + result] = sum;
  }
};

/// One block for each result, whose terms are neighbours in memory. blockIdx.y is the part.
template <typename T> __global__ void rowsKernel(ReduceMap map, const T *x, Sums sums) {
  const std::uint32_t first = partBegin(map.terms, sums.parts, blockIdx.y);
  const std::uint32_t last = partBegin(map.terms, sums.parts, blockIdx.y + 1);
  for (std::uint32_t result = blockIdx.x; result < map.results; result += gridDim.x) {
    const double sum =
        blockSum(sumTerms(x, map, result, first + threadIdx.x, last, threadsPerBlock));
    if (threadIdx.x == 0)
      sums.store(map, result, blockIdx.y, sum);
    __syncthreads(); // the next sum uses the same memory
  }
}

/// One thread for each result, where neighbouring threads read neighbouring elements or few terms
/// are summed.
template <typename T> __global__ void columnsKernel(ReduceMap map, const T *x, Sums sums) {
  const std::uint32_t first = partBegin(map.terms, sums.parts, blockIdx.y);
  const std::uint32_t last = partBegin(map.terms, sums.parts, blockIdx.y + 1);
  forEachElement(map.results, [&](std::int64_t i) {
    const auto result = static_cast<std::uint32_t>(i);
    sums.store(map, result, blockIdx.y, sumTerms(x, map, result, first, last, 1));
  });
}

__global__ void joinKernel(std::uint32_t results, Sums sums) {
  forEachElement(results, [&](std::int64_t result) {
    double sum = 0;
    for (std::uint32_t part = 0; part < sums.parts; ++part)
      sum += sums.scratch[static_cast<std::int64_t>(part) * results + result];
    sums.y[result] = static_cast<float>(sum / sums.divisor);
  });
}

bool takesRows(const ReduceMap &map) { return map.isAlongRows && map.terms > 64; }

/// Launched with one block.
__global__ void meanKernel(const double *parts, std::uint32_t count, double divisor,
                           float *result) {
  double own = 0;
  for (std::uint32_t i = threadIdx.x; i < count; i += threadsPerBlock)
    own += parts[i];
  const double sum = blockSum(own);
  if (threadIdx.x == 0)
    *result = static_cast<float>(sum / divisor);
}

} // namespace

cudaError_t meanOfParts(cudaStream_t stream, const double *parts, std::uint32_t count,
                        double divisor, float *result) {
  return launch(meanKernel, 1, stream, parts, count, divisor, result);
}

std::uint32_t reduceParts(const ReduceMap &map) {
  // Enough blocks for a large device, but no part too small for a block.
  constexpr std::uint32_t wanted = 1024, maxParts = 256;
  const bool rows = takesRows(map);
  const std::uint32_t blocks = rows ? map.results : blocksFor(map.results);
  const std::uint32_t least = rows ? 8 * threadsPerBlock : 64; // terms of a part
  return std::clamp(std::min(wanted / blocks, map.terms / least), 1u, maxParts);
}

template <typename T>
cudaError_t reduceTerms(cudaStream_t stream, const ReduceMap &map, const T *x, float *y,
                        double divisor, double *scratch) {
  const Sums sums{y, scratch, divisor, reduceParts(map)};
  const cudaError_t launched =
      takesRows(map) ? launch(rowsKernel<T>, dim3(std::min(map.results, 1u << 20), sums.parts),
                              stream, map, x, sums)
                     : launch(columnsKernel<T>, dim3(blocksFor(map.results), sums.parts), stream,
                              map, x, sums);
  if (launched != cudaSuccess || sums.parts == 1)
    return launched;
  return launch(joinKernel, blocksFor(map.results), stream, map.results, sums);
}

template cudaError_t reduceTerms(cudaStream_t, const ReduceMap &, const float *, float *, double,
                                 double *);
template cudaError_t reduceTerms(cudaStream_t, const ReduceMap &, const BFloat16 *, float *, double,
                                 double *);

} // namespace syncline::cuda
