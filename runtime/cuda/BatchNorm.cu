// Batch normalization with channels last, and gradients of biases: one kernel for sums of columns
// and the coefficients of each channel, then one for the elements.
#include "runtime/cuda/ColumnWork.cuh"

#include <cmath>

namespace syncline::cuda {

namespace {

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

/// The gradients of channel c's scale and shift, and the coefficients of
/// dx = gain · (dy - Σdy / n - (x - mean) / (variance + epsilon) · Σ(dy · (x - mean)) / n)
template <typename T>
__device__ void finishSums(const BatchNormShape &shape, const BatchNormBackward<T> &o,
                           const Work &work, std::uint32_t c, const Sums &sums) {
  const double n = shape.rows, squared = o.variance[c] + o.epsilon;
  const double inverse = 1 / sqrt(squared), gain = o.scale[c] * inverse;
  if (o.dscale)
    o.dscale[c] = static_cast<float>(sums.second * inverse);
  if (o.dshift)
    o.dshift[c] = static_cast<float>(sums.first);
  work.gain[c] = static_cast<float>(gain);
  work.slope[c] = static_cast<float>(-gain * sums.second / (n * squared));
  work.offset[c] = static_cast<float>(-gain * sums.first / n);
}

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
      [&](std::uint32_t c, const Sums &sums) { finishSums(shape, o, work, c, sums); });
}

/// A pack of x, and of the operands of the sum that makes dy.
template <int width, typename T> struct GivenSum {
  Pack<T, width> x, first, second, gate;
  std::uint32_t at; ///< the pack's first element
};

/// As backwardSumsKernel without an activation, and makes dy. It loads four operands of two rows
/// ahead, as many bytes as the other does of four rows, and has more to compute from them: a
/// multiprocessor has registers for three blocks.
template <int width, typename T>
__global__ void __launch_bounds__(threadsPerBlock, blocksEach - 1)
    sumAndBackwardSumsKernel(BatchNormShape shape, Columns by, BatchNormBackward<T> o,
                             SumBeforeNorm<T> sum, Work work) {
  const auto mean = loadCoefficients<width>(by, o.mean);
  sumColumns<width, rowsAhead / 2>(
      shape, by, work.sums,
      [&](std::uint32_t i) {
        GivenSum<width, T> of{loadPack<width>(o.x + i), loadPack<width>(sum.first + i), {}, {}, i};
        if (sum.second)
          of.second = loadPack<width>(sum.second + i);
        if (sum.gate)
          of.gate = loadPack<width>(sum.gate + i);
        return of;
      },
      [&](Sums(&sums)[width], const GivenSum<width, T> &of) {
        Pack<T, width> dy;
        for (int k = 0; k < width; ++k) {
          float total = static_cast<float>(of.first.at[k]);
          if (sum.second)
            total += static_cast<float>(of.second.at[k]);
          const bool passes = !sum.gate || isPositive(static_cast<float>(of.gate.at[k]));
          dy.at[k] = static_cast<T>(passes ? total : 0.0f);
          const double gradient = static_cast<float>(dy.at[k]);
          sums[k].first += gradient;
          sums[k].second += gradient * (static_cast<float>(of.x.at[k]) - mean.at[k]);
        }
        storePack(sum.result + of.at, dy);
      },
      [&](std::uint32_t c, const Sums &sums) { finishSums(shape, o, work, c, sums); });
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
                      const SumAfterNorm<T> &sum, bool findsThem) {
  Work work = workOf(shape, memory);
  if (operands.gain)
    work.gain = operands.gain;
  const Columns by = columnsOf(shape, width);
  const cudaError_t launched =
      findsThem
          ? launch(forwardSumsKernel<width, T>, sumGrid(shape), stream, shape, by, operands, work)
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

template <int width, typename T>
cudaError_t backwardBy(cudaStream_t stream, const BatchNormShape &shape,
                       const BatchNormBackward<T> &operands, const ColumnMemory &memory,
                       const SumBeforeNorm<T> &sum) {
  const Work work = workOf(shape, memory);
  const Columns by = columnsOf(shape, width);
  const dim3 sums = sumGrid(shape);
  const cudaError_t launched =
      sum.result
          ? launch(sumAndBackwardSumsKernel<width, T>, sums, stream, shape, by, operands, sum, work)
          : launch(backwardSumsKernel<width, T>, sums, stream, shape, by, operands, work);
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

template <typename T>
cudaError_t batchNormBackward(cudaStream_t stream, const BatchNormShape &shape,
                              const BatchNormBackward<T> &operands, const ColumnMemory &memory,
                              const SumBeforeNorm<T> &sum) {
  return takesPacks(shape) ? backwardBy<4>(stream, shape, operands, memory, sum)
                           : backwardBy<1>(stream, shape, operands, memory, sum);
}

template <typename T>
cudaError_t biasGradient(cudaStream_t stream, const BatchNormShape &shape, const T *dy,
                         float *dbias, const ColumnMemory &memory) {
  return takesPacks(shape) ? biasBy<4>(stream, shape, dy, dbias, memory)
                           : biasBy<1>(stream, shape, dy, dbias, memory);
}

#define SYNCLINE_BATCH_NORM(T)                                                                     \
  template cudaError_t batchNorm(cudaStream_t, const BatchNormShape &,                             \
                                 const BatchNormForward<T> &, const ColumnMemory &,                \
                                 const SumAfterNorm<T> &);                                         \
  template cudaError_t batchNormBy(cudaStream_t, const BatchNormShape &,                           \
                                   const BatchNormForward<T> &, const ColumnMemory &,              \
                                   const SumAfterNorm<T> &);                                       \
  template cudaError_t batchNormBackward(cudaStream_t, const BatchNormShape &,                     \
                                         const BatchNormBackward<T> &, const ColumnMemory &,       \
                                         const SumBeforeNorm<T> &);                                \
  template cudaError_t biasGradient(cudaStream_t, const BatchNormShape &, const T *, float *,      \
                                    const ColumnMemory &);
SYNCLINE_BATCH_NORM(float)
SYNCLINE_BATCH_NORM(BFloat16)

} // namespace syncline::cuda
