// Batch normalization, channels last: sums of columns by parts of the rows, what follows from them
// a channel, and one pass over the elements.
#include "runtime/cuda/BatchNormKernels.h"
#include "runtime/cuda/Launch.cuh"

#include <algorithm>
#include <cmath>

namespace syncline::cuda {

namespace {

/// A block works on so many neighbouring channels, each of which has so many of its threads.
constexpr std::uint32_t columns = 32, lanes = threadsPerBlock / columns;
constexpr std::uint32_t mostParts = 256;

/// Two sums, of every channel.
struct Sums {
  double first = 0, second = 0;
};

/// A thread's place: its channel, and which of the channel's threads it is.
struct Column {
  std::uint32_t channel = blockIdx.x * columns + threadIdx.x % columns;
  std::uint32_t lane = threadIdx.x / columns;
};

/// The sums of a channel's threads in a fixed order; lane 0 has them. All threads call it.
__device__ Sums sumOfLanes(const Sums &own) {
  __shared__ Sums all[threadsPerBlock];
  all[threadIdx.x] = own;
  __syncthreads();
  Sums sum;
  if (threadIdx.x < columns)
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      sum.first += all[lane * columns + threadIdx.x].first;
      sum.second += all[lane * columns + threadIdx.x].second;
    }
  return sum;
}

/// Scratch: the sums of the parts [parts, channels], then three coefficients a channel.
struct Work {
  Sums *parts;
  float *gain, *slope, *offset;
};

std::uint32_t partsOf(const BatchNormShape &shape) {
  // Enough blocks for a large device, but no part that is not worth a block.
  const std::uint32_t blocks = (shape.channels + columns - 1) / columns;
  return std::clamp(std::min(1024 / blocks, shape.rows / (8 * lanes)), 1u, mostParts);
}

Work workOf(const BatchNormShape &shape, void *scratch) {
  auto *parts = static_cast<Sums *>(scratch);
  auto *gain = reinterpret_cast<float *>(parts + std::size_t{partsOf(shape)} * shape.channels);
  return {parts, gain, gain + shape.channels, gain + 2 * std::size_t{shape.channels}};
}

/// Calls add(sums, element) for this thread's elements, and stores the block's sums: blockIdx.y is
/// the part.
template <typename Add>
__device__ void sumColumns(const BatchNormShape &shape, Sums *parts, const Add &add) {
  const Column at;
  const auto begin = [&](std::uint32_t part) {
    return static_cast<std::uint32_t>(std::uint64_t{shape.rows} * part / gridDim.y);
  };
  Sums own;
  if (at.channel < shape.channels)
    for (std::uint32_t row = begin(blockIdx.y) + at.lane; row < begin(blockIdx.y + 1); row += lanes)
      add(own, std::int64_t{row} * shape.channels + at.channel);
  const Sums sum = sumOfLanes(own);
  if (at.lane == 0 && at.channel < shape.channels)
    parts[std::size_t{blockIdx.y} * shape.channels + at.channel] = sum;
}

/// The channel's sums over all parts; lane 0 has them.
__device__ Sums joinParts(const BatchNormShape &shape, const Sums *parts, std::uint32_t count) {
  const Column at;
  Sums own;
  if (at.channel < shape.channels)
    for (std::uint32_t part = at.lane; part < count; part += lanes) {
      own.first += parts[std::size_t{part} * shape.channels + at.channel].first;
      own.second += parts[std::size_t{part} * shape.channels + at.channel].second;
    }
  return sumOfLanes(own);
}

template <typename T>
__global__ void forwardSumsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work) {
  sumColumns(shape, work.parts, [&](Sums &sums, std::int64_t i) {
    const double value = static_cast<float>(o.x[i]);
    sums.first += value;
    sums.second += value * value;
  });
}

template <typename T>
__global__ void forwardChannelsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work,
                                      std::uint32_t parts) {
  const Column at;
  const Sums sums = joinParts(shape, work.parts, parts);
  const std::uint32_t c = at.channel;
  if (at.lane != 0 || c >= shape.channels)
    return;
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
}

template <typename T>
__global__ void forwardElementsKernel(BatchNormShape shape, BatchNormForward<T> o, Work work,
                                      std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) {
    const std::uint32_t c = static_cast<std::uint32_t>(i) % shape.channels;
    float value = (static_cast<float>(o.x[i]) - o.mean[c]) * work.gain[c] + o.shift[c];
    if (o.mask) {
      o.mask[i] = value > 0;
      value = value > 0 ? value : 0.0f;
    }
    o.y[i] = static_cast<T>(value);
  });
}

template <typename T> __device__ float gradientAt(const BatchNormBackward<T> &o, std::int64_t i) {
  return o.mask && !o.mask[i] ? 0.0f : static_cast<float>(o.dy[i]);
}

template <typename T>
__global__ void backwardSumsKernel(BatchNormShape shape, BatchNormBackward<T> o, Work work) {
  sumColumns(shape, work.parts, [&](Sums &sums, std::int64_t i) {
    const double gradient = gradientAt(o, i);
    const std::uint32_t c = static_cast<std::uint32_t>(i) % shape.channels;
    sums.first += gradient;
    sums.second += gradient * (static_cast<float>(o.x[i]) - o.mean[c]);
  });
}

/// dx = gain · (dy - Σdy / n - (x - mean) / (variance + epsilon) · Σ(dy · (x - mean)) / n)
template <typename T>
__global__ void backwardChannelsKernel(BatchNormShape shape, BatchNormBackward<T> o, Work work,
                                       std::uint32_t parts) {
  const Column at;
  const Sums sums = joinParts(shape, work.parts, parts);
  const std::uint32_t c = at.channel;
  if (at.lane != 0 || c >= shape.channels)
    return;
  const double n = shape.rows, squared = o.variance[c] + o.epsilon, inverse = 1 / sqrt(squared);
  const double gain = o.scale[c] * inverse;
  if (o.dscale)
    o.dscale[c] = static_cast<float>(sums.second * inverse);
  if (o.dshift)
    o.dshift[c] = static_cast<float>(sums.first);
  work.gain[c] = static_cast<float>(gain);
  work.slope[c] = static_cast<float>(-gain * sums.second / (n * squared));
  work.offset[c] = static_cast<float>(-gain * sums.first / n);
}

template <typename T>
__global__ void backwardElementsKernel(BatchNormShape shape, BatchNormBackward<T> o, Work work,
                                       std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) {
    const std::uint32_t c = static_cast<std::uint32_t>(i) % shape.channels;
    const float distance = static_cast<float>(o.x[i]) - o.mean[c];
    o.dx[i] =
        static_cast<T>(gradientAt(o, i) * work.gain[c] + distance * work.slope[c] + work.offset[c]);
  });
}

/// The three kernels of a direction; the last one where `hasElements`.
template <typename Operands, typename SumsKernel, typename ChannelsKernel, typename ElementsKernel>
cudaError_t launchAll(cudaStream_t stream, const BatchNormShape &shape, const Operands &operands,
                      void *scratch, SumsKernel sums, ChannelsKernel channels,
                      ElementsKernel elements, bool hasElements) {
  const Work work = workOf(shape, scratch);
  const std::uint32_t parts = partsOf(shape), blocks = (shape.channels + columns - 1) / columns;
  cudaError_t launched = launch(sums, dim3(blocks, parts), stream, shape, operands, work);
  if (launched == cudaSuccess)
    launched = launch(channels, dim3(blocks), stream, shape, operands, work, parts);
  if (launched == cudaSuccess && hasElements)
    launched =
        launch(elements, blocksFor(shape.size()), stream, shape, operands, work, shape.size());
  return launched;
}

} // namespace

std::int64_t batchNormScratch(const BatchNormShape &shape) {
  const std::int64_t sums = std::int64_t{partsOf(shape)} * sizeof(Sums);
  return shape.channels * (sums + 3 * std::int64_t{sizeof(float)});
}

template <typename T>
cudaError_t batchNorm(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, void *scratch) {
  return launchAll(stream, shape, operands, scratch, forwardSumsKernel<T>, forwardChannelsKernel<T>,
                   forwardElementsKernel<T>, true);
}

template <typename T>
cudaError_t batchNormBackward(cudaStream_t stream, const BatchNormShape &shape,
                              const BatchNormBackward<T> &operands, void *scratch) {
  return launchAll(stream, shape, operands, scratch, backwardSumsKernel<T>,
                   backwardChannelsKernel<T>, backwardElementsKernel<T>, operands.dx != nullptr);
}

#define SYNCLINE_BATCH_NORM(T)                                                                     \
  template cudaError_t batchNorm(cudaStream_t, const BatchNormShape &,                             \
                                 const BatchNormForward<T> &, void *);                             \
  template cudaError_t batchNormBackward(cudaStream_t, const BatchNormShape &,                     \
                                         const BatchNormBackward<T> &, void *);
SYNCLINE_BATCH_NORM(float)
SYNCLINE_BATCH_NORM(BFloat16)

} // namespace syncline::cuda
