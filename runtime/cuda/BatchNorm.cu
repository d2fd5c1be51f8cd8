// Batch normalization with channels last, and gradients of biases: one kernel for sums of columns
// and the coefficients of each channel, then one for the elements.
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

/// Memory for sums, and three coefficients for each channel.
struct Work {
  SumsMemory sums;
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

/// The number of sums of parts and of groups for each channel.
std::size_t keptSums(const BatchNormShape &shape) {
  const std::uint32_t parts = sumParts(shape);
  return std::size_t{parts} + groupsOf(parts);
}

/// Scratch memory holds the sums, then the coefficients.
Work workOf(const BatchNormShape &shape, const ColumnMemory &memory) {
  auto *parts = static_cast<Sums *>(memory.scratch);
  auto *gain = reinterpret_cast<float *>(parts + keptSums(shape) * shape.channels);
  return {{parts, parts + std::size_t{sumParts(shape)} * shape.channels, memory.counters},
          gain,
          gain + shape.channels,
          gain + 2 * std::size_t{shape.channels}};
}

/// Blocks for which a multiprocessor has registers: 64 a thread. With three, as some kernels take
/// more if they may, fewer loads would be under way than the memory can answer.
constexpr int blocksEach = 4;

/// NaN counts as positive, as in PyTorch.
__device__ bool isPositive(float value) { return !(value <= 0); }

/// A coefficient for each of this thread's channels; 0 for channels beyond the last one.
template <int width>
__device__ Pack<float, width> loadCoefficients(const Columns &by, const float *from) {
  const Column<width> at(by);
  return at.channel < by.channels ? loadPack<width>(from + at.channel) : Pack<float, width>{};
}

/// Keeps what the backward pass asks for.
__device__ void keepLine(const BatchNormShape &shape, const Positives<std::uint8_t> &positives,
                         std::uint32_t c, float gain, float shift) {
  if (positives.line) {
    positives.line[c] = gain;
    positives.line[shape.channels + c] = shift;
  }
}

template <int width, typename T>
__global__ void __launch_bounds__(threadsPerBlock, blocksEach)
    forwardSumsKernel(BatchNormShape shape, Columns by, BatchNormForward<T> o, Work work) {
  sumColumns<width>(
      shape, by, work.sums, [&](std::uint32_t i) { return loadPack<width>(o.x + i); },
      [&](Sums(&sums)[width], const Pack<T, width> &x) {
        for (int k = 0; k < width; ++k) {
          const double value = static_cast<float>(x.at[k]);
          sums[k].first += value;
          sums[k].second += value * value;
        }
      },
      [&](std::uint32_t c, const Sums &sums) {
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
      });
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

/// A pack of the backward pass's operands.
template <int width, typename T> struct Given {
  Pack<T, width> x, dy;
  Pack<std::uint8_t, width> mask;
};

/// Computes the gradient before the activation, which is 0 where the activation was 0. What a pack
/// has of y, is computed as in the forward pass, to the same bits.
template <int width, typename T> class Gradients {
public:
  __device__ Gradients(const BatchNormShape &shape, const Columns &by,
                       const BatchNormBackward<T> &o)
      : o(o), mean(loadCoefficients<width>(by, o.mean)) {
    if (o.positives.line) {
      gain = loadCoefficients<width>(by, o.positives.line);
      shift = loadCoefficients<width>(by, o.positives.line + shape.channels);
    } else {
      for (float &each : shift.at)
        each = 1; // without an activation all are positive
    }
  }

  __device__ Given<width, T> load(std::uint32_t i) const {
    Given<width, T> given{loadPack<width>(o.x + i), loadPack<width>(o.dy + i), {}};
    if (o.positives.mask)
      given.mask = loadPack<width>(o.positives.mask + i);
    return given;
  }
  __device__ float distance(const Given<width, T> &given, int k) const {
    return static_cast<float>(given.x.at[k]) - mean.at[k];
  }
  __device__ float gradient(const Given<width, T> &given, int k) const {
    const bool passes = o.positives.mask
                            ? given.mask.at[k] != 0
                            : isPositive(distance(given, k) * gain.at[k] + shift.at[k]);
    return passes ? static_cast<float>(given.dy.at[k]) : 0.0f;
  }

private:
  const BatchNormBackward<T> &o;
  Pack<float, width> mean, gain{}, shift{};
};

/// dx = gain · (dy - Σdy / n - (x - mean) / (variance + epsilon) · Σ(dy · (x - mean)) / n)
template <int width, typename T>
__global__ void __launch_bounds__(threadsPerBlock, blocksEach)
    backwardSumsKernel(BatchNormShape shape, Columns by, BatchNormBackward<T> o, Work work) {
  const Gradients<width, T> gradients(shape, by, o);
  sumColumns<width>(
      shape, by, work.sums, [&](std::uint32_t i) { return gradients.load(i); },
      [&](Sums(&sums)[width], const Given<width, T> &given) {
        for (int k = 0; k < width; ++k) {
          const double gradient = gradients.gradient(given, k);
          sums[k].first += gradient;
          sums[k].second += gradient * gradients.distance(given, k);
        }
      },
      [&](std::uint32_t c, const Sums &sums) {
        const double n = shape.rows, squared = o.variance[c] + o.epsilon;
        const double inverse = 1 / sqrt(squared), gain = o.scale[c] * inverse;
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
__global__ void __launch_bounds__(threadsPerBlock, blocksEach)
    backwardElementsKernel(BatchNormShape shape, Columns by, BatchNormBackward<T> o, Work work) {
  const Gradients<width, T> gradients(shape, by, o);
  const auto gain = loadCoefficients<width>(by, work.gain);
  const auto slope = loadCoefficients<width>(by, work.slope);
  const auto offset = loadCoefficients<width>(by, work.offset);
  forEachRow<width>(
      shape, by, partFromTheEnd(), [&](std::uint32_t i) { return gradients.load(i); },
      [&](std::uint32_t i, const Given<width, T> &given) {
        Pack<T, width> dx;
        for (int k = 0; k < width; ++k)
          dx.at[k] = static_cast<T>(gradients.gradient(given, k) * gain.at[k] +
                                    gradients.distance(given, k) * slope.at[k] + offset.at[k]);
        storePack(o.dx + i, dx);
      });
}

template <int width, typename T>
__global__ void biasSumsKernel(BatchNormShape shape, Columns by, const T *dy, float *dbias,
                               Work work) {
  sumColumns<width>(
      shape, by, work.sums, [&](std::uint32_t i) { return loadPack<width>(dy + i); },
      [&](Sums(&sums)[width], const Pack<T, width> &gradients) {
        for (int k = 0; k < width; ++k)
          sums[k].first += static_cast<float>(gradients.at[k]);
      },
      [&](std::uint32_t c, const Sums &sums) { dbias[c] = static_cast<float>(sums.first); });
}

dim3 sumGrid(const BatchNormShape &shape) {
  return dim3(columnsOf(shape).blocks(takesPacks(shape) ? 4 : 1), sumParts(shape));
}

/// Normalizes by the operands' statistics, which are the batch's if `findsThem`.
template <int width, typename T>
cudaError_t forwardBy(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, const ColumnMemory &memory,
                      bool findsThem) {
  const Work work = workOf(shape, memory);
  const Columns by = columnsOf(shape, width);
  const cudaError_t launched =
      findsThem
          ? launch(forwardSumsKernel<width, T>, sumGrid(shape), stream, shape, by, operands, work)
          : launch(gainsKernel<T>, blocksFor(shape.channels), stream, shape, operands, work);
  if (launched != cudaSuccess)
    return launched;
  return launch(forwardElementsKernel<width, T>, dim3(by.blocks(width), elementParts(shape)),
                stream, shape, by, operands, work);
}

template <int width, typename T>
cudaError_t backwardBy(cudaStream_t stream, const BatchNormShape &shape,
                       const BatchNormBackward<T> &operands, const ColumnMemory &memory) {
  const Work work = workOf(shape, memory);
  const Columns by = columnsOf(shape, width);
  const cudaError_t launched =
      launch(backwardSumsKernel<width, T>, sumGrid(shape), stream, shape, by, operands, work);
  if (launched != cudaSuccess || !operands.dx)
    return launched;
  return launch(backwardElementsKernel<width, T>, dim3(by.blocks(width), elementParts(shape)),
                stream, shape, by, operands, work);
}

template <int width, typename T>
cudaError_t biasBy(cudaStream_t stream, const BatchNormShape &shape, const T *dy, float *dbias,
                   const ColumnMemory &memory) {
  return launch(biasSumsKernel<width, T>, sumGrid(shape), stream, shape, columnsOf(shape, width),
                dy, dbias, workOf(shape, memory));
}

} // namespace

std::int64_t batchNormScratch(const BatchNormShape &shape) {
  const auto sums = static_cast<std::int64_t>(keptSums(shape) * sizeof(Sums));
  return shape.channels * (sums + 3 * std::int64_t{sizeof(float)});
}

template <typename T>
cudaError_t batchNorm(cudaStream_t stream, const BatchNormShape &shape,
                      const BatchNormForward<T> &operands, const ColumnMemory &memory) {
  return takesPacks(shape) ? forwardBy<4>(stream, shape, operands, memory, true)
                           : forwardBy<1>(stream, shape, operands, memory, true);
}

template <typename T>
cudaError_t batchNormBy(cudaStream_t stream, const BatchNormShape &shape,
                        const BatchNormForward<T> &operands, const ColumnMemory &memory) {
  return takesPacks(shape) ? forwardBy<4>(stream, shape, operands, memory, false)
                           : forwardBy<1>(stream, shape, operands, memory, false);
}

template <typename T>
cudaError_t batchNormBackward(cudaStream_t stream, const BatchNormShape &shape,
                              const BatchNormBackward<T> &operands, const ColumnMemory &memory) {
  return takesPacks(shape) ? backwardBy<4>(stream, shape, operands, memory)
                           : backwardBy<1>(stream, shape, operands, memory);
}

template <typename T>
cudaError_t biasGradient(cudaStream_t stream, const BatchNormShape &shape, const T *dy,
                         float *dbias, const ColumnMemory &memory) {
  return takesPacks(shape) ? biasBy<4>(stream, shape, dy, dbias, memory)
                           : biasBy<1>(stream, shape, dy, dbias, memory);
}

#define SYNCLINE_BATCH_NORM(T)                                                                     \
  template cudaError_t batchNorm(cudaStream_t, const BatchNormShape &,                             \
                                 const BatchNormForward<T> &, const ColumnMemory &);               \
  template cudaError_t batchNormBy(cudaStream_t, const BatchNormShape &,                           \
                                   const BatchNormForward<T> &, const ColumnMemory &);             \
  template cudaError_t batchNormBackward(cudaStream_t, const BatchNormShape &,                     \
                                         const BatchNormBackward<T> &, const ColumnMemory &);      \
  template cudaError_t biasGradient(cudaStream_t, const BatchNormShape &, const T *, float *,      \
                                    const ColumnMemory &);
SYNCLINE_BATCH_NORM(float)
SYNCLINE_BATCH_NORM(BFloat16)

} // namespace syncline::cuda
