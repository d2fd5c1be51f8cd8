// The backward pass of batch normalization with channels last, and gradients of biases: one kernel
// for sums of columns and the coefficients of each channel, then one for the elements.
#include "runtime/cuda/kernels/NormColumns.cuh"

#include <cmath>

namespace syncline::cuda {

namespace {

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

/// Rows of bf16 that both kernels of sums add in f32, so that their bits are equal.
constexpr std::uint32_t gradientRows = 2;

/// `Some` is Sums or RowSums.
template <typename Some> __device__ void addGradient(Some &sums, float gradient, float distance) {
  const decltype(Some::first) value = gradient;
  sums.first += value;
  sums.second += value * distance;
}

template <int width, typename T>
__global__ void __launch_bounds__(threadsPerBlock, blocksEach)
    backwardSumsKernel(BatchNormShape shape, Columns by, BatchNormBackward<T> o, Work work) {
  const Gradients<width, T> gradients(shape, by, o);
  sumColumns<width, rowsTogether<T, gradientRows>>(
      shape, by, work.sums, [&](std::uint32_t i) { return gradients.load(i); },
      [&](auto &sums, const Given<width, T> &given) {
        for (int k = 0; k < width; ++k)
          addGradient(sums[k], gradients.gradient(given, k), gradients.distance(given, k));
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
  sumColumns<width, rowsTogether<T, gradientRows>, rowsAhead / 2>(
      shape, by, work.sums,
      [&](std::uint32_t i) {
        GivenSum<width, T> of{loadPack<width>(o.x + i), loadPack<width>(sum.first + i), {}, {}, i};
        if (sum.second)
          of.second = loadPack<width>(sum.second + i);
        if (sum.gate)
          of.gate = loadPack<width>(sum.gate + i);
        return of;
      },
      [&](auto &sums, const GivenSum<width, T> &of) {
        Pack<T, width> dy;
        for (int k = 0; k < width; ++k) {
          float total = static_cast<float>(of.first.at[k]);
          if (sum.second)
            total += static_cast<float>(of.second.at[k]);
          const bool passes = !sum.gate || isPositive(static_cast<float>(of.gate.at[k]));
          dy.at[k] = static_cast<T>(passes ? total : 0.0f);
          addGradient(sums[k], static_cast<float>(dy.at[k]),
                      static_cast<float>(of.x.at[k]) - mean.at[k]);
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
  sumColumns<width, rowsTogether<T, rowsAhead>>(
      shape, by, work.sums, [&](std::uint32_t i) { return loadPack<width>(dy + i); },
      [&](auto &sums, const Pack<T, width> &gradients) {
        for (int k = 0; k < width; ++k)
          sums[k].first += static_cast<float>(gradients.at[k]);
      },
      [&](std::uint32_t c, const Sums &sums) { dbias[c] = static_cast<float>(sums.first); });
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

#define SYNCLINE_BATCH_NORM_BACKWARD(T)                                                            \
  template cudaError_t batchNormBackward(cudaStream_t, const BatchNormShape &,                     \
                                         const BatchNormBackward<T> &, const ColumnMemory &,       \
                                         const SumBeforeNorm<T> &);                                \
  template cudaError_t biasGradient(cudaStream_t, const BatchNormShape &, const T *, float *,      \
                                    const ColumnMemory &);
SYNCLINE_BATCH_NORM_BACKWARD(float)
SYNCLINE_BATCH_NORM_BACKWARD(BFloat16)

} // namespace syncline::cuda
