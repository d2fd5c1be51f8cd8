// Batch normalization, channels last, and gradients of biases: sums of columns by parts of the
// rows, what follows from them a channel, and one pass over the elements.
#include "runtime/cuda/BatchNormKernels.h"
#include "runtime/cuda/Columns.cuh"

#include <algorithm>
#include <cmath>

namespace syncline::cuda {

namespace {

constexpr std::uint32_t mostParts = 256;

bool takesPacks(const BatchNormShape &shape) { return shape.channels % 4 == 0; }

/// Scratch: the sums of the parts [parts, channels], then three coefficients a channel.
struct Work {
  Sums *parts;
  float *gain, *slope, *offset;
};

std::uint32_t blocksOf(const BatchNormShape &shape) {
  const std::uint32_t channels = columns * (takesPacks(shape) ? 4 : 1);
  return (shape.channels + channels - 1) / channels;
}

std::uint32_t partsOf(const BatchNormShape &shape) {
  // Enough blocks for a large device, but no part that is not worth a block.
  return std::clamp(std::min(1024 / blocksOf(shape), shape.rows / (8 * lanes)), 1u, mostParts);
}

Work workOf(const BatchNormShape &shape, void *scratch) {
  auto *parts = static_cast<Sums *>(scratch);
  auto *gain = reinterpret_cast<float *>(parts + std::size_t{partsOf(shape)} * shape.channels);
  return {parts, gain, gain + shape.channels, gain + 2 * std::size_t{shape.channels}};
}

template <int width, typename T>
__global__ void forwardSumsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work) {
  sumColumns<width>(shape, work.parts, [&](Sums *sums, std::int64_t i) {
    const auto x = loadPack<width>(o.x + i);
    for (int k = 0; k < width; ++k) {
      const double value = static_cast<float>(x.at[k]);
      sums[k].first += value;
      sums[k].second += value * value;
    }
  });
}

template <typename T>
__global__ void forwardChannelsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work,
                                      std::uint32_t parts) {
  forEachChannel(shape, work.parts, parts, [&](std::uint32_t c, const Sums &sums) {
    const double n = shape.rows, mean = sums.first / n, rest = sums.second / n - mean * mean;
    const double variance = rest > 0 ? rest : 0.0;
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

template <int width, typename T>
__global__ void forwardElementsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work,
                                      std::int64_t packs) {
  forEachElement(packs, [&](std::int64_t pack) {
    const std::int64_t i = pack * width;
    const std::uint32_t c = static_cast<std::uint32_t>(i) % shape.channels;
    const auto x = loadPack<width>(o.x + i);
    Pack<T, width> y;
    Pack<std::uint8_t, width> mask;
    for (int k = 0; k < width; ++k) {
      const float distance = static_cast<float>(x.at[k]) - o.mean[c + k];
      const float value = distance * work.gain[c + k] + o.shift[c + k];
      mask.at[k] = value > 0;
      y.at[k] = static_cast<T>(o.mask && !(value > 0) ? 0.0f : value);
    }
    storePack(o.y + i, y);
    if (o.mask)
      storePack(o.mask + i, mask);
  });
}

/// dy where the activation let y through.
template <int width, typename T>
__device__ Pack<float, width> gradientsAt(const BatchNormBackward<T> &o, std::int64_t i) {
  const auto dy = loadPack<width>(o.dy + i);
  Pack<std::uint8_t, width> mask{};
  if (o.mask)
    mask = loadPack<width>(o.mask + i);
  Pack<float, width> gradients;
  for (int k = 0; k < width; ++k)
    gradients.at[k] = o.mask && !mask.at[k] ? 0.0f : static_cast<float>(dy.at[k]);
  return gradients;
}

template <int width, typename T>
__global__ void backwardSumsKernel(BatchNormShape shape, BatchNormBackward<T> o, Work work) {
  const Column<width> at;
  float mean[width] = {};
  for (int k = 0; k < width && at.channel < shape.channels; ++k)
    mean[k] = o.mean[at.channel + k];
  sumColumns<width>(shape, work.parts, [&](Sums *sums, std::int64_t i) {
    const auto gradients = gradientsAt<width>(o, i);
    const auto x = loadPack<width>(o.x + i);
    for (int k = 0; k < width; ++k) {
      const double gradient = gradients.at[k];
      sums[k].first += gradient;
      sums[k].second += gradient * (static_cast<float>(x.at[k]) - mean[k]);
    }
  });
}

/// dx = gain · (dy - Σdy / n - (x - mean) / (variance + epsilon) · Σ(dy · (x - mean)) / n)
template <typename T>
__global__ void backwardChannelsKernel(BatchNormShape shape, BatchNormBackward<T> o, Work work,
                                       std::uint32_t parts) {
  forEachChannel(shape, work.parts, parts, [&](std::uint32_t c, const Sums &sums) {
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
__global__ void backwardElementsKernel(BatchNormShape shape, BatchNormBackward<T> o, Work work,
                                       std::int64_t packs) {
  forEachElement(packs, [&](std::int64_t pack) {
    const std::int64_t i = pack * width;
    const std::uint32_t c = static_cast<std::uint32_t>(i) % shape.channels;
    const auto gradients = gradientsAt<width>(o, i);
    const auto x = loadPack<width>(o.x + i);
    Pack<T, width> dx;
    for (int k = 0; k < width; ++k) {
      const float distance = static_cast<float>(x.at[k]) - o.mean[c + k];
      dx.at[k] = static_cast<T>(gradients.at[k] * work.gain[c + k] + distance * work.slope[c + k] +
                                work.offset[c + k]);
    }
    storePack(o.dx + i, dx);
  });
}

template <int width, typename T>
__global__ void biasSumsKernel(BatchNormShape shape, const T *dy, Work work) {
  sumColumns<width>(shape, work.parts, [&](Sums *sums, std::int64_t i) {
    const auto gradients = loadPack<width>(dy + i);
    for (int k = 0; k < width; ++k)
      sums[k].first += static_cast<float>(gradients.at[k]);
  });
}

__global__ void biasChannelsKernel(BatchNormShape shape, float *dbias, Work work,
                                   std::uint32_t parts) {
  forEachChannel(shape, work.parts, parts, [&](std::uint32_t c, const Sums &sums) {
    dbias[c] = static_cast<float>(sums.first);
  });
}

/// An operation's sums over columns, and what follows a channel.
template <typename SumsOf, typename ChannelsOf>
cudaError_t launchSums(cudaStream_t stream, const BatchNormShape &shape, const Work &work,
                       void (*sums)(BatchNormShape, SumsOf, Work), const SumsOf &sumsOf,
                       void (*channels)(BatchNormShape, ChannelsOf, Work, std::uint32_t),
                       const ChannelsOf &channelsOf) {
  const std::uint32_t parts = partsOf(shape);
  const cudaError_t launched =
      launch(sums, dim3(blocksOf(shape), parts), stream, shape, sumsOf, work);
  if (launched != cudaSuccess)
    return launched;
  return launch(channels, dim3((shape.channels + columns - 1) / columns), stream, shape, channelsOf,
                work, parts);
}

template <int width, typename T>
cudaError_t forwardBy(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, void *scratch) {
  const Work work = workOf(shape, scratch);
  const cudaError_t launched = launchSums(stream, shape, work, forwardSumsKernel<width, T>,
                                          operands, forwardChannelsKernel<T>, operands);
  if (launched != cudaSuccess)
    return launched;
  const std::int64_t packs = shape.size() / width;
  return launch(forwardElementsKernel<width, T>, blocksFor(packs), stream, shape, operands, work,
                packs);
}

template <int width, typename T>
cudaError_t backwardBy(cudaStream_t stream, const BatchNormShape &shape,
                       const BatchNormBackward<T> &operands, void *scratch) {
  const Work work = workOf(shape, scratch);
  const cudaError_t launched = launchSums(stream, shape, work, backwardSumsKernel<width, T>,
                                          operands, backwardChannelsKernel<T>, operands);
  if (launched != cudaSuccess || !operands.dx)
    return launched;
  const std::int64_t packs = shape.size() / width;
  return launch(backwardElementsKernel<width, T>, blocksFor(packs), stream, shape, operands, work,
                packs);
}

template <int width, typename T>
cudaError_t biasBy(cudaStream_t stream, const BatchNormShape &shape, const T *dy, float *dbias,
                   void *scratch) {
  return launchSums(stream, shape, workOf(shape, scratch), biasSumsKernel<width, T>, dy,
                    biasChannelsKernel, dbias);
}

} // namespace

std::int64_t batchNormScratch(const BatchNormShape &shape) {
  const std::int64_t sums = std::int64_t{partsOf(shape)} * sizeof(Sums);
  return shape.channels * (sums + 3 * std::int64_t{sizeof(float)});
}

template <typename T>
cudaError_t batchNorm(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, void *scratch) {
  return takesPacks(shape) ? forwardBy<4>(stream, shape, operands, scratch)
                           : forwardBy<1>(stream, shape, operands, scratch);
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
  template cudaError_t batchNormBackward(cudaStream_t, const BatchNormShape &,                     \
                                         const BatchNormBackward<T> &, void *);                    \
  template cudaError_t biasGradient(cudaStream_t, const BatchNormShape &, const T *, float *,      \
                                    void *);
SYNCLINE_BATCH_NORM(float)
SYNCLINE_BATCH_NORM(BFloat16)

} // namespace syncline::cuda
