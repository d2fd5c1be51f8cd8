// Batch normalization with channels last, and gradients of biases: sums of columns over parts of
// the rows, then coefficients for each channel, then one pass over the elements.
#include "runtime/cuda/BatchNormKernels.h"
#include "runtime/cuda/Columns.cuh"

#include <algorithm>
#include <cmath>

namespace syncline::cuda {

namespace {

bool takesPacks(const BatchNormShape &shape) { return shape.channels % 4 == 0; }

Columns columnsOf(const BatchNormShape &shape) {
  return columnsOf(shape, takesPacks(shape) ? 4 : 1);
}

/// The layout of scratch memory: the sums of the parts [parts, channels], then three coefficients
/// for each channel.
struct Work {
  Sums *parts;
  float *gain, *slope, *offset;
};

/// The number of parts of the rows: enough blocks for a large device, with at least `rows` rows for
/// each thread.
std::uint32_t partsOf(const BatchNormShape &shape, std::uint32_t maxBlocks, std::uint32_t rows) {
  const Columns by = columnsOf(shape);
  const std::uint32_t blocks = by.blocks(takesPacks(shape) ? 4 : 1);
  return std::max(1u, std::min(maxBlocks / blocks, shape.rows / (rows * by.lanes())));
}

/// The number of parts for sums. It is small, because the parts' sums are summed again; a pass over
/// elements may have more parts at no cost.
std::uint32_t sumParts(const BatchNormShape &shape) { return partsOf(shape, 1024, 2 * rowsAhead); }
std::uint32_t elementParts(const BatchNormShape &shape) { return partsOf(shape, 4096, rowsAhead); }

Work workOf(const BatchNormShape &shape, void *scratch) {
  auto *parts = static_cast<Sums *>(scratch);
  auto *gain = reinterpret_cast<float *>(parts + std::size_t{sumParts(shape)} * shape.channels);
  return {parts, gain, gain + shape.channels, gain + 2 * std::size_t{shape.channels}};
}

/// A coefficient for each of this thread's channels; 0 for channels beyond the last one.
template <int width>
__device__ Pack<float, width> loadCoefficients(const Columns &by, const float *from) {
  const Column<width> at(by);
  return at.channel < by.channels ? loadPack<width>(from + at.channel) : Pack<float, width>{};
}

template <int width, typename T>
__global__ void forwardSumsKernel(BatchNormShape shape, Columns by, BatchNormForward<T> o,
                                  Work work) {
  sumColumns<width>(
      shape, by, work.parts, [&](std::uint32_t i) { return loadPack<width>(o.x + i); },
      [&](Sums(&sums)[width], const Pack<T, width> &x) {
        for (int k = 0; k < width; ++k) {
          const double value = static_cast<float>(x.at[k]);
          sums[k].first += value;
          sums[k].second += value * value;
        }
      });
}

template <typename T>
__global__ void forwardChannelsKernel(BatchNormShape shape, Columns by, BatchNormForward<T> o,
                                      Work work, std::uint32_t parts) {
  forEachChannel(by, work.parts, parts, [&](std::uint32_t c, const Sums &sums) {
    const double n = shape.rows, mean = sums.first / n, rest = sums.second / n - mean * mean;
    const double variance = rest < 0 ? 0.0 : rest;
    o.mean[c] = static_cast<float>(mean);
    o.variance[c] = static_cast<float>(variance);
    work.gain[c] = static_cast<float>(o.scale[c] / sqrt(variance + o.epsilon));
    const auto blend = [&](float &old, double value) {
      old = static_cast<float>((1 - o.momentum) * old + o.momentum * value);
    };
    if (o.runningMean)
      blend(o.runningMean[c], mean);
    if (o.runningVariance)
      blend(o.runningVariance[c], variance * n / (n > 1 ? n - 1 : 1.0));
  });
}

template <typename T>
__global__ void gainsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work) {
  forEachElement(shape.channels, [&](std::int64_t c) {
    work.gain[c] = static_cast<float>(o.scale[c] / sqrt(o.variance[c] + o.epsilon));
  });
}

template <int width, typename T>
__global__ void forwardElementsKernel(BatchNormShape shape, Columns by, BatchNormForward<T> o,
                                      Work work) {
  const auto mean = loadCoefficients<width>(by, o.mean);
  const auto gain = loadCoefficients<width>(by, work.gain);
  const auto shift = loadCoefficients<width>(by, o.shift);
  forEachRow<width>(
      shape, by, [&](std::uint32_t i) { return loadPack<width>(o.x + i); },
      [&](std::uint32_t i, const Pack<T, width> &x) {
        Pack<T, width> y;
        Pack<std::uint8_t, width> mask;
        for (int k = 0; k < width; ++k) {
          const float distance = static_cast<float>(x.at[k]) - mean.at[k];
          const float value = distance * gain.at[k] + shift.at[k];
          mask.at[k] = !(value <= 0); // NaN counts as positive, as in PyTorch
          y.at[k] = static_cast<T>(o.mask && value < 0 ? 0.0f : value);
        }
        storePack(o.y + i, y);
        if (o.mask)
          storePack(o.mask + i, mask);
      });
}

/// One element of both operands; dy is 0 where the activation was 0.
template <int width, typename T> struct Given {
  Pack<T, width> x, dy;
  Pack<std::uint8_t, width> mask;

  __device__ float gradient(int k) const {
    return mask.at[k] ? static_cast<float>(dy.at[k]) : 0.0f;
  }
};

template <int width, typename T>
__device__ Given<width, T> loadGiven(const BatchNormBackward<T> &o, std::uint32_t i) {
  Given<width, T> given{loadPack<width>(o.x + i), loadPack<width>(o.dy + i), {}};
  for (std::uint8_t &each : given.mask.at)
    each = 1;
  if (o.mask)
    given.mask = loadPack<width>(o.mask + i);
  return given;
}

template <int width, typename T>
__global__ void backwardSumsKernel(BatchNormShape shape, Columns by, BatchNormBackward<T> o,
                                   Work work) {
  const auto mean = loadCoefficients<width>(by, o.mean);
  sumColumns<width>(
      shape, by, work.parts, [&](std::uint32_t i) { return loadGiven<width>(o, i); },
      [&](Sums(&sums)[width], const Given<width, T> &given) {
        for (int k = 0; k < width; ++k) {
          const double gradient = given.gradient(k);
          sums[k].first += gradient;
          sums[k].second += gradient * (static_cast<float>(given.x.at[k]) - mean.at[k]);
        }
      });
}

/// dx = gain · (dy - Σdy / n - (x - mean) / (variance + epsilon) · Σ(dy · (x - mean)) / n)
template <typename T>
__global__ void backwardChannelsKernel(BatchNormShape shape, Columns by, BatchNormBackward<T> o,
                                       Work work, std::uint32_t parts) {
  forEachChannel(by, work.parts, parts, [&](std::uint32_t c, const Sums &sums) {
    const double n = shape.rows, squared = o.variance[c] + o.epsilon, inverse = 1 / sqrt(squared);
    const double gain = o.scale[c] * inverse;
    if (o.dscale)
      o.dscale[c] = static_cast<float>(sums.second * inverse);
    if (o.dshift)
      o.dshift[c] = static_cast<float>(sums.first);
    work.gain[c] = static_cast<float>(gain);
    work.slope[c] = static_cast<float>(-gain * sums.second / (n * squared));
    work.offset[c] = static_cast<float>(-gain * sums.first / n);
  });
}

template <int width, typename T>
__global__ void backwardElementsKernel(BatchNormShape shape, Columns by, BatchNormBackward<T> o,
                                       Work work) {
  const auto mean = loadCoefficients<width>(by, o.mean);
  const auto gain = loadCoefficients<width>(by, work.gain);
  const auto slope = loadCoefficients<width>(by, work.slope);
  const auto offset = loadCoefficients<width>(by, work.offset);
  forEachRow<width>(
      shape, by, [&](std::uint32_t i) { return loadGiven<width>(o, i); },
      [&](std::uint32_t i, const Given<width, T> &given) {
        Pack<T, width> dx;
        for (int k = 0; k < width; ++k) {
          const float distance = static_cast<float>(given.x.at[k]) - mean.at[k];
          dx.at[k] = static_cast<T>(given.gradient(k) * gain.at[k] + distance * slope.at[k] +
                                    offset.at[k]);
        }
        storePack(o.dx + i, dx);
      });
}

template <int width, typename T>
__global__ void biasSumsKernel(BatchNormShape shape, Columns by, const T *dy, Work work) {
  sumColumns<width>(
      shape, by, work.parts, [&](std::uint32_t i) { return loadPack<width>(dy + i); },
      [&](Sums(&sums)[width], const Pack<T, width> &gradients) {
        for (int k = 0; k < width; ++k)
          sums[k].first += static_cast<float>(gradients.at[k]);
      });
}

__global__ void biasChannelsKernel(BatchNormShape, Columns by, float *dbias, Work work,
                                   std::uint32_t parts) {
  forEachChannel(by, work.parts, parts, [&](std::uint32_t c, const Sums &sums) {
    dbias[c] = static_cast<float>(sums.first);
  });
}

/// Launches an operation's sums over columns, then its computation for each channel.
template <typename SumsOf, typename ChannelsOf>
cudaError_t launchSums(cudaStream_t stream, const BatchNormShape &shape, const Work &work,
                       void (*sums)(BatchNormShape, Columns, SumsOf, Work), const SumsOf &sumsOf,
                       void (*channels)(BatchNormShape, Columns, ChannelsOf, Work, std::uint32_t),
                       const ChannelsOf &channelsOf) {
  const std::uint32_t parts = sumParts(shape);
  const Columns by = columnsOf(shape), byChannel = columnsOfParts(shape, parts);
  const dim3 grid(by.blocks(takesPacks(shape) ? 4 : 1), parts);
  const cudaError_t launched = launch(sums, grid, stream, shape, by, sumsOf, work);
  if (launched != cudaSuccess)
    return launched;
  return launch(channels, byChannel.blocks(1), stream, shape, byChannel, channelsOf, work, parts);
}

/// Normalizes by the operands' statistics, which are the batch's if `findsThem`.
template <int width, typename T>
cudaError_t forwardBy(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, void *scratch, bool findsThem) {
  const Work work = workOf(shape, scratch);
  const cudaError_t launched =
      findsThem ? launchSums(stream, shape, work, forwardSumsKernel<width, T>, operands,
                             forwardChannelsKernel<T>, operands)
                : launch(gainsKernel<T>, blocksFor(shape.channels), stream, shape, operands, work);
  if (launched != cudaSuccess)
    return launched;
  const Columns by = columnsOf(shape, width);
  return launch(forwardElementsKernel<width, T>, dim3(by.blocks(width), elementParts(shape)),
                stream, shape, by, operands, work);
}

template <int width, typename T>
cudaError_t backwardBy(cudaStream_t stream, const BatchNormShape &shape,
                       const BatchNormBackward<T> &operands, void *scratch) {
  const Work work = workOf(shape, scratch);
  const cudaError_t launched = launchSums(stream, shape, work, backwardSumsKernel<width, T>,
                                          operands, backwardChannelsKernel<T>, operands);
  if (launched != cudaSuccess || !operands.dx)
    return launched;
  const Columns by = columnsOf(shape, width);
  return launch(backwardElementsKernel<width, T>, dim3(by.blocks(width), elementParts(shape)),
                stream, shape, by, operands, work);
}

template <int width, typename T>
cudaError_t biasBy(cudaStream_t stream, const BatchNormShape &shape, const T *dy, float *dbias,
                   void *scratch) {
  return launchSums(stream, shape, workOf(shape, scratch), biasSumsKernel<width, T>, dy,
                    biasChannelsKernel, dbias);
}

} // namespace

std::int64_t batchNormScratch(const BatchNormShape &shape) {
  const std::int64_t sums = std::int64_t{sumParts(shape)} * sizeof(Sums);
  return shape.channels * (sums + 3 * std::int64_t{sizeof(float)});
}

template <typename T>
cudaError_t batchNorm(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, void *scratch) {
  return takesPacks(shape) ? forwardBy<4>(stream, shape, operands, scratch, true)
                           : forwardBy<1>(stream, shape, operands, scratch, true);
}

template <typename T>
cudaError_t batchNormBy(cudaStream_t stream, const BatchNormShape &shape,
                        const BatchNormForward<T> &operands, void *scratch) {
  return takesPacks(shape) ? forwardBy<4>(stream, shape, operands, scratch, false)
                           : forwardBy<1>(stream, shape, operands, scratch, false);
}

template <typename T>
cudaError_t batchNormBackward(cudaStream_t stream, const BatchNormShape &shape,
                              const BatchNormBackward<T> &operands, void *scratch) {
  return takesPacks(shape) ? backwardBy<4>(stream, shape, operands, scratch)
                           : backwardBy<1>(stream, shape, operands, scratch);
}

template <typename T>
cudaError_t biasGradient(cudaStream_t stream, const BatchNormShape &shape, const T *dy,
                         float *dbias, void *scratch) {
  return takesPacks(shape) ? biasBy<4>(stream, shape, dy, dbias, scratch)
                           : biasBy<1>(stream, shape, dy, dbias, scratch);
}

#define SYNCLINE_BATCH_NORM(T)                                                                     \
  template cudaError_t batchNorm(cudaStream_t, const BatchNormShape &,                             \
                                 const BatchNormForward<T> &, void *);                             \
  template cudaError_t batchNormBy(cudaStream_t, const BatchNormShape &,                           \
                                   const BatchNormForward<T> &, void *);                           \
  template cudaError_t batchNormBackward(cudaStream_t, const BatchNormShape &,                     \
                                         const BatchNormBackward<T> &, void *);                    \
  template cudaError_t biasGradient(cudaStream_t, const BatchNormShape &, const T *, float *,      \
                                    void *);
SYNCLINE_BATCH_NORM(float)
SYNCLINE_BATCH_NORM(BFloat16)

} // namespace syncline::cuda
