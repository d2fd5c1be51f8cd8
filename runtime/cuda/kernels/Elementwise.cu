// Kernels that handle one element or four at a time: bias, activation, masks, dropout,
// noise, variances.
#include "runtime/cuda/kernels/ElementBodies.h"
#include "runtime/cuda/kernels/Kernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

namespace syncline::cuda {

namespace {

template <typename T>
__global__ void biasKernel(T *y, const float *bias, std::uint32_t channels, std::uint32_t inner,
                           bool relu, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) {
    float value = y[i];
    if (bias)
      value += bias[static_cast<std::uint32_t>(i) / inner % channels];
    y[i] = static_cast<T>(relu && value < 0 ? 0.0f : value);
  });
}

/// Bias and activation for channels that are innermost and a multiple of four.
template <typename T>
__global__ void biasOfRowsKernel(T *y, const float *bias, std::uint32_t channels, bool relu,
                                 std::int64_t n) {
  forEachElement(n / 4, [&](std::int64_t pack) {
    const std::uint32_t channel = static_cast<std::uint32_t>(4 * pack) % channels;
    auto values = loadPack<4>(y + 4 * pack);
    for (int k = 0; k < 4; ++k) {
      const float value = values.at[k] + (bias ? bias[channel + k] : 0.0f);
      values.at[k] = static_cast<T>(relu && value < 0 ? 0.0f : value);
    }
    storePack(y + 4 * pack, values);
  });
}

__global__ void reluMaskKernel(float *y, std::uint8_t *mask, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) {
    const bool isKept = !(y[i] <= 0);
    mask[i] = isKept;
    if (!isKept)
      y[i] = 0;
  });
}

__global__ void applyMaskKernel(const float *x, const std::uint8_t *mask, float *y,
                                std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { y[i] = mask[i] ? x[i] : 0.0f; });
}

__global__ void dropoutBackwardKernel(const float *dy, const std::uint8_t *mask, float *dx,
                                      float scale, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { dx[i] = dropped(dy[i], mask[i], scale); });
}

__global__ void stepNumberKernel(std::int64_t *step, std::int64_t number) {
  if (threadIdx.x == 0)
    *step = number;
}

__global__ void dropoutKernel(core::DropoutStream numbers, const std::int64_t *step, const float *x,
                              float *y, std::uint8_t *mask, float scale, std::int64_t n) {
  forEachElement((n + 3) / 4, [&](std::int64_t block) {
    dropoutBlock(numbers, *step, static_cast<std::uint64_t>(block), x, y, mask,
                 static_cast<std::uint64_t>(n), scale);
  });
}

__global__ void noiseKernel(core::NoiseStream stream, const std::int64_t *step, float *y,
                            std::int64_t n) {
  forEachElement((n + 3) / 4, [&](std::int64_t block) {
    const auto numbers = core::noiseBlock(stream, *step, static_cast<std::uint64_t>(block));
    for (std::int64_t k = 0; k < 4 && 4 * block + k < n; ++k)
      y[4 * block + k] = numbers[static_cast<std::size_t>(k)];
  });
}

__global__ void varianceKernel(float *values, float epsilon, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { values[i] = varianceOf(values[i], epsilon); });
}

__global__ void inverseDeviationKernel(const float *variance, float *values, float epsilon,
                                       std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { values[i] = inverseDeviationOf(variance[i], epsilon); });
}

} // namespace

template <typename T>
cudaError_t addBias(cudaStream_t stream, T *y, const float *bias, std::int64_t channels,
                    std::int64_t inner, bool relu, std::int64_t n) {
  const auto count = static_cast<std::uint32_t>(channels);
  if (inner == 1 && channels % 4 == 0 && isAlignedTo(y, 4 * sizeof(T)))
    return launch(biasOfRowsKernel<T>, blocksFor(n / 4), stream, y, bias, count, relu, n);
  return launch(biasKernel<T>, blocksFor(n), stream, y, bias, count,
                static_cast<std::uint32_t>(inner), relu, n);
}

template cudaError_t addBias(cudaStream_t, float *, const float *, std::int64_t, std::int64_t, bool,
                             std::int64_t);
template cudaError_t addBias(cudaStream_t, BFloat16 *, const float *, std::int64_t, std::int64_t,
                             bool, std::int64_t);

cudaError_t reluMask(cudaStream_t stream, float *y, std::uint8_t *mask, std::int64_t n) {
  return launch(reluMaskKernel, blocksFor(n), stream, y, mask, n);
}

cudaError_t applyMask(cudaStream_t stream, const float *x, const std::uint8_t *mask, float *y,
                      std::int64_t n) {
  return launch(applyMaskKernel, blocksFor(n), stream, x, mask, y, n);
}

cudaError_t dropoutBackward(cudaStream_t stream, const float *dy, const std::uint8_t *mask,
                            float *dx, float scale, std::int64_t n) {
  return launch(dropoutBackwardKernel, blocksFor(n), stream, dy, mask, dx, scale, n);
}

cudaError_t setStepNumber(cudaStream_t stream, std::int64_t *step, std::int64_t number) {
  return launch(stepNumberKernel, 1, stream, step, number);
}

cudaError_t dropout(cudaStream_t stream, const core::DropoutStream &numbers,
                    const std::int64_t *step, const float *x, float *y, std::uint8_t *mask,
                    float scale, std::int64_t n) {
  return launch(dropoutKernel, blocksFor((n + 3) / 4), stream, numbers, step, x, y, mask, scale, n);
}

cudaError_t noise(cudaStream_t stream, const core::NoiseStream &numbers, const std::int64_t *step,
                  float *y, std::int64_t n) {
  return launch(noiseKernel, blocksFor((n + 3) / 4), stream, numbers, step, y, n);
}

cudaError_t toVariance(cudaStream_t stream, float *values, float epsilon, std::int64_t n) {
  return launch(varianceKernel, blocksFor(n), stream, values, epsilon, n);
}

cudaError_t toInverseDeviation(cudaStream_t stream, const float *variance, float *values,
                               float epsilon, std::int64_t n) {
  return launch(inverseDeviationKernel, blocksFor(n), stream, variance, values, epsilon, n);
}

} // namespace syncline::cuda
