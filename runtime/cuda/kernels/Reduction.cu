// Reductions over any dimensions, in double and in a fixed order, so that the result has the same
// bits every time.
#include "runtime/cuda/kernels/Kernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// The destination of results: y, or scratch memory [parts, results] for several parts.
struct Results {
  float *y;
  double *scratch;
  double divisor;
  std::uint32_t parts;

  __device__ void store(const ReduceMap &map, std::uint32_t result, std::uint32_t part,
                        double value) const {
    if (parts == 1)
      y[result] = static_cast<float>(value / divisor);
    else
      scratch[static_cast<std::int64_t>(part) * map.results + result] = value;
  }
};

/// One block for each result, whose terms are neighbours in memory. blockIdx.y is the part.
template <typename Combination, typename T>
__global__ void rowsKernel(ReduceMap map, const T *x, Results to) {
  const std::uint32_t first = partBegin(map.terms, to.parts, blockIdx.y);
  const std::uint32_t last = partBegin(map.terms, to.parts, blockIdx.y + 1);
  for (std::uint32_t result = blockIdx.x; result < map.results; result += gridDim.x) {
    const double value = blockCombined<Combination>(
        combineTerms<Combination>(x, map, result, first + threadIdx.x, last, threadsPerBlock));
    if (threadIdx.x == 0)
      to.store(map, result, blockIdx.y, value);
    __syncthreads(); // the next result uses the same memory
  }
}

/// One thread for each result, where neighbouring threads read neighbouring elements or there are
/// few terms.
template <typename Combination, typename T>
__global__ void columnsKernel(ReduceMap map, const T *x, Results to) {
  const std::uint32_t first = partBegin(map.terms, to.parts, blockIdx.y);
  const std::uint32_t last = partBegin(map.terms, to.parts, blockIdx.y + 1);
  forEachElement(map.results, [&](std::int64_t i) {
    const auto result = static_cast<std::uint32_t>(i);
    to.store(map, result, blockIdx.y, combineTerms<Combination>(x, map, result, first, last, 1));
  });
}

template <typename Combination> __global__ void joinKernel(std::uint32_t results, Results to) {
  forEachElement(results, [&](std::int64_t result) {
    double value = Combination::start;
    for (std::uint32_t part = 0; part < to.parts; ++part)
      value = Combination::combine(value,
                                   to.scratch[static_cast<std::int64_t>(part) * results + result]);
    to.y[result] = static_cast<float>(value / to.divisor);
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

template <typename Combination, typename T>
static cudaError_t reduceBy(cudaStream_t stream, const ReduceMap &map, const T *x,
                            const Results &to) {
  const cudaError_t launched =
      takesRows(map) ? launch(rowsKernel<Combination, T>,
                              dim3(std::min(map.results, 1u << 20), to.parts), stream, map, x, to)
                     : launch(columnsKernel<Combination, T>, dim3(blocksFor(map.results), to.parts),
                              stream, map, x, to);
  if (launched != cudaSuccess || to.parts == 1)
    return launched;
  return launch(joinKernel<Combination>, blocksFor(map.results), stream, map.results, to);
}

template <typename T>
cudaError_t reduceTerms(cudaStream_t stream, Reduction kind, const ReduceMap &map, const T *x,
                        float *y, double *scratch) {
  const Results to{y, scratch, core::divisorOf(kind, map.terms), reduceParts(map)};
  return core::withCombination(
      kind, [&]<typename Combination> { return reduceBy<Combination>(stream, map, x, to); });
}

template cudaError_t reduceTerms(cudaStream_t, Reduction, const ReduceMap &, const float *, float *,
                                 double *);
template cudaError_t reduceTerms(cudaStream_t, Reduction, const ReduceMap &, const BFloat16 *,
                                 float *, double *);

} // namespace syncline::cuda
