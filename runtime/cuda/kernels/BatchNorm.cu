// The forward pass of batch normalization with channels last: one kernel for the statistics and the
// coefficients of each channel, then one for the elements.
#include "runtime/cuda/kernels/NormColumns.cuh"

#include <cmath>

namespace syncline::cuda {

namespace {

/// Keeps what the backward pass asks for.
__device__ void keepLine(const BatchNormShape &shape, const Positives<std::uint8_t> &positives,
                         std::uint32_t c, float gain, float shift) {
  if (positives.line) {
    positives.line[c] = gain;
    positives.line[shape.channels + c] = shift;
  }
}

/// Channel c's statistics and factor, from the sums of its elements and of their squares.
template <typename T>
__device__ void finishStatistics(const BatchNormShape &shape, const BatchNormForward<T> &o,
                                 const Work &work, std::uint32_t c, const Sums &sums) {
  const double n = shape.rows, mean = sums.first / n, rest = sums.second / n - mean * mean;
  const double variance = rest < 0 ? 0.0 : rest;
  o.mean[c] = static_cast<float>(mean);
  o.variance[c] = static_cast<float>(variance);
  work.gain[c] = static_cast<float>(o.scale[c] / sqrt(variance + o.epsilon));
  keepLine(shape, o.positives, c, work.gain[c], o.shift[c]);
  const auto blend = [&](float &old, double value) {
    old = static_cast<float>((1 - o.momentum) * old + o.momentum * value);
  };
  if (o.runningMean)
    blend(o.runningMean[c], mean);
  if (o.runningVariance)
    blend(o.runningVariance[c], variance * n / (n > 1 ? n - 1 : 1.0));
}

/// `Some` is Sums or RowSums.
template <int width, typename Some, typename T>
__device__ void addSquares(Some (&sums)[width], const Pack<T, width> &x) {
  for (int k = 0; k < width; ++k) {
    const decltype(Some::first) value = static_cast<float>(x.at[k]);
    sums[k].first += value;
    sums[k].second += value * value;
  }
}

template <int width, typename T>
__global__ void __launch_bounds__(threadsPerBlock, blocksEach)
    forwardSumsKernel(BatchNormShape shape, Columns by, BatchNormForward<T> o, Work work) {
  sumColumns<width, rowsTogether<T, rowsAhead>>(
      shape, by, work.sums, [&](std::uint32_t i) { return loadPack<width>(o.x + i); },
      [](auto &sums, const Pack<T, width> &x) { addSquares(sums, x); },
      [&](std::uint32_t c, const Sums &sums) { finishStatistics(shape, o, work, c, sums); });
}

/// Whether the variance of these sums in f32 is exact enough for elements in bf16. The variance is
/// a difference: sums that are right to 2^-20 give it to 2^-14 of itself where the mean's square is
/// 64 times as large, and bf16 rounds an element by 2^-9.
__device__ bool tellVariance(const BatchNormShape &shape, const Sums &sums) {
  const double n = shape.rows, mean = sums.first / n, square = mean * mean;
  return 64 * (sums.second / n - square) >= square;
}

/// A block finishes one channel by the given sums, or adds up its elements where these do not do.
template <typename T>
__global__ void __launch_bounds__(threadsPerBlock, blocksEach)
    givenSumsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work) {
  const std::uint32_t channel = blockIdx.x;
  const Sums given{o.sums[channel], o.squares[channel]};
  if (o.trustsSums || tellVariance(shape, given)) {
    if (threadIdx.x == 0)
      finishStatistics(shape, o, work, channel, given);
    return;
  }
  constexpr std::uint32_t oneColumn = 0;
  sumColumns<1, rowsTogether<T, rowsAhead>>(
      shape, {shape.channels, oneColumn}, work.sums,
      [&](std::uint32_t i) { return loadPack<1>(o.x + i); },
      [](auto &sums, const Pack<T, 1> &x) { addSquares(sums, x); },
      [&](std::uint32_t c, const Sums &sums) { finishStatistics(shape, o, work, c, sums); });
}

template <typename T>
__global__ void gainsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work) {
  forEachElement(shape.channels, [&](std::int64_t c) {
    work.gain[c] = static_cast<float>(o.scale[c] / sqrt(o.variance[c] + o.epsilon));
  });
}

template <int width, typename T>
__global__ void __launch_bounds__(threadsPerBlock, blocksEach)
    forwardElementsKernel(BatchNormShape shape, Columns by, BatchNormForward<T> o, Work work) {
  const auto mean = loadCoefficients<width>(by, o.mean);
  const auto gain = loadCoefficients<width>(by, work.gain);
  const auto shift = loadCoefficients<width>(by, o.shift);
  forEachRow<width>(
      shape, by, partFromTheEnd(), [&](std::uint32_t i) { return loadPack<width>(o.x + i); },
      [&](std::uint32_t i, const Pack<T, width> &x) {
        Pack<T, width> y;
        Pack<std::uint8_t, width> mask;
        for (int k = 0; k < width; ++k) {
          const float distance = static_cast<float>(x.at[k]) - mean.at[k];
          const float value = distance * gain.at[k] + shift.at[k];
          mask.at[k] = isPositive(value);
          y.at[k] = static_cast<T>(o.positives.areAsked() && value < 0 ? 0.0f : value);
        }
        storePack(o.y + i, y);
        if (o.positives.mask)
          storePack(o.positives.mask + i, mask);
      });
}

template <int width, typename T> struct Summands {
  Pack<T, width> x, addend;
};

/// One norm's coefficients of this thread's channels.
template <int width> struct Line {
  Pack<float, width> mean, gain, shift;

  __device__ Line(const Columns &by, const float *mean, const float *gain, const float *shift)
      : mean(loadCoefficients<width>(by, mean)), gain(loadCoefficients<width>(by, gain)),
        shift(loadCoefficients<width>(by, shift)) {}
  template <typename T> __device__ T at(T x, int k) const {
    const float distance = static_cast<float>(x) - mean.at[k];
    return static_cast<T>(distance * gain.at[k] + shift.at[k]);
  }
};

/// `isOfTwo`: the addend is another norm's, whose coefficients take a fourth block's registers. Of
/// f32 the kernel loads half as many rows ahead, which are as many bytes.
template <int width, typename T, bool isOfTwo>
__global__ void __launch_bounds__(threadsPerBlock, isOfTwo ? blocksEach - 1 : blocksEach)
    sumElementsKernel(BatchNormShape shape, Columns by, BatchNormForward<T> o, SumAfterNorm<T> sum,
                      Work work) {
  const Line<width> line(by, o.mean, work.gain, o.shift);
  // Without a second norm it is not used, and the compiler drops it.
  const Line<width> second = isOfTwo ? Line<width>(by, sum.mean, sum.gain, sum.shift) : line;
  forEachRow<width, rowsAhead * 2 / sizeof(T)>(
      shape, by, partFromTheEnd(),
      [&](std::uint32_t i) {
        return Summands<width, T>{loadPack<width>(o.x + i), loadPack<width>(sum.addend + i)};
      },
      [&](std::uint32_t i, const Summands<width, T> &of) {
        Pack<T, width> y, result;
        for (int k = 0; k < width; ++k) {
          y.at[k] = line.at(of.x.at[k], k);
          const T addend = isOfTwo ? second.at(of.addend.at[k], k) : of.addend.at[k];
          const float total = static_cast<float>(y.at[k]) + static_cast<float>(addend);
          result.at[k] = static_cast<T>(sum.hasRelu && total < 0 ? 0.0f : total);
        }
        if (o.y)
          storePack(o.y + i, y);
        storePack(sum.result + i, result);
      });
}

/// The batch's statistics, and the factor of each channel.
template <int width, typename T>
cudaError_t findStatistics(cudaStream_t stream, const BatchNormShape &shape, const Columns &by,
                           const BatchNormForward<T> &operands, const Work &work) {
  if (operands.sums)
    return launch(givenSumsKernel<T>, dim3(shape.channels), stream, shape, operands, work);
  return launch(forwardSumsKernel<width, T>, sumGrid(shape), stream, shape, by, operands, work);
}

/// Normalizes by the operands' statistics, which are the batch's if `findsThem`.
template <int width, typename T>
cudaError_t forwardBy(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, const ColumnMemory &memory,
                      const SumAfterNorm<T> &sum, bool findsThem) {
  Work work = workOf(shape, memory);
  if (operands.gain)
    work.gain = operands.gain;
  const Columns by = columnsOf(shape, width);
  const cudaError_t launched =
      findsThem ? findStatistics<width>(stream, shape, by, operands, work)
                : launch(gainsKernel<T>, blocksFor(shape.channels), stream, shape, operands, work);
  if (launched != cudaSuccess || operands.gain)
    return launched;
  const dim3 grid(by.blocks(width), elementParts(shape));
  if (!sum.result)
    return launch(forwardElementsKernel<width, T>, grid, stream, shape, by, operands, work);
  const auto kernel =
      sum.gain ? sumElementsKernel<width, T, true> : sumElementsKernel<width, T, false>;
  return launch(kernel, grid, stream, shape, by, operands, sum, work);
}

} // namespace

std::int64_t batchNormScratch(const BatchNormShape &shape) {
  const auto sums = static_cast<std::int64_t>(keptSums(shape) * sizeof(Sums));
  return shape.channels * (sums + 3 * std::int64_t{sizeof(float)});
}

template <typename T>
cudaError_t batchNorm(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, const ColumnMemory &memory,
                      const SumAfterNorm<T> &sum) {
  return takesPacks(shape) ? forwardBy<4>(stream, shape, operands, memory, sum, true)
                           : forwardBy<1>(stream, shape, operands, memory, sum, true);
}

template <typename T>
cudaError_t batchNormBy(cudaStream_t stream, const BatchNormShape &shape,
                        const BatchNormForward<T> &operands, const ColumnMemory &memory,
                        const SumAfterNorm<T> &sum) {
  return takesPacks(shape) ? forwardBy<4>(stream, shape, operands, memory, sum, false)
                           : forwardBy<1>(stream, shape, operands, memory, sum, false);
}

#define SYNCLINE_BATCH_NORM(T)                                                                     \
  template cudaError_t batchNorm(cudaStream_t, const BatchNormShape &,                             \
                                 const BatchNormForward<T> &, const ColumnMemory &,                \
                                 const SumAfterNorm<T> &);                                         \
  template cudaError_t batchNormBy(cudaStream_t, const BatchNormShape &,                           \
                                   const BatchNormForward<T> &, const ColumnMemory &,              \
                                   const SumAfterNorm<T> &);
SYNCLINE_BATCH_NORM(float)
SYNCLINE_BATCH_NORM(BFloat16)

} // namespace syncline::cuda
