// Kernels that handle one element or four at a time: bias and activation, masks, dropout,
// variances, SGD.
#include "runtime/core/Sgd.h"
#include "runtime/cuda/ElementBodies.h"
#include "runtime/cuda/Kernels.h"
#include "runtime/cuda/Launch.cuh"

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

__global__ void varianceKernel(float *values, float epsilon, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { values[i] = varianceOf(values[i], epsilon); });
}

__global__ void inverseDeviationKernel(const float *variance, float *values, float epsilon,
                                       std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { values[i] = inverseDeviationOf(variance[i], epsilon); });
}

enum class Rule { plain, momentum, nesterov };

/// `kept` is null where all elements are updated. It is written only where an element is kept,
/// which is rare.
template <Rule rule>
__device__ void sgdElement(float &w, float g, float *v, const core::SgdConstants &k,
                           std::int32_t *kept) {
  const auto update = [&](float &weight, float &velocity) {
    if (rule == Rule::plain)
      core::sgdPlain(weight, g, k);
    else
      core::sgdMomentum<rule == Rule::nesterov>(weight, g, velocity, k);
  };
  float none = 0;
  float &velocity = rule == Rule::plain ? none : *v;
  if (!kept)
    update(w, velocity);
  else if (core::updateFinite(w, velocity, update))
    *kept = 1;
}

/// Updates the first `vectors` · 4 elements four at a time, the rest one at a time.
template <Rule rule>
__global__ void sgdKernel(float *w, const float *g, float *v, std::int64_t vectors, std::int64_t n,
                          core::SgdConstants k, std::int32_t *kept) {
  forEachElement(vectors, [&](std::int64_t i) {
    float4 weight = reinterpret_cast<float4 *>(w)[i];
    const float4 gradient = reinterpret_cast<const float4 *>(g)[i];
    float4 velocity{};
    if (rule != Rule::plain)
      velocity = reinterpret_cast<float4 *>(v)[i];
    sgdElement<rule>(weight.x, gradient.x, &velocity.x, k, kept);
    sgdElement<rule>(weight.y, gradient.y, &velocity.y, k, kept);
    sgdElement<rule>(weight.z, gradient.z, &velocity.z, k, kept);
    sgdElement<rule>(weight.w, gradient.w, &velocity.w, k, kept);
    reinterpret_cast<float4 *>(w)[i] = weight;
    if (rule != Rule::plain)
      reinterpret_cast<float4 *>(v)[i] = velocity;
  });
  forEachElement(n - 4 * vectors, [&](std::int64_t rest) {
    const std::int64_t i = 4 * vectors + rest;
    sgdElement<rule>(w[i], g[i], v + i, k, kept);
  });
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

cudaError_t toVariance(cudaStream_t stream, float *values, float epsilon, std::int64_t n) {
  return launch(varianceKernel, blocksFor(n), stream, values, epsilon, n);
}

cudaError_t toInverseDeviation(cudaStream_t stream, const float *variance, float *values,
                               float epsilon, std::int64_t n) {
  return launch(inverseDeviationKernel, blocksFor(n), stream, variance, values, epsilon, n);
}

cudaError_t sgdUpdate(cudaStream_t stream, float *parameters, const float *gradients,
                      float *velocity, std::int64_t n, const core::SgdOptions &options,
                      double scale, std::int32_t *kept) {
  if (n == 0)
    return cudaSuccess;
  const core::SgdConstants k = core::sgdConstants(options, scale);
  const auto address = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p); };
  const bool isAligned =
      (address(parameters) | address(gradients) | address(velocity)) % sizeof(float4) == 0;
  const std::int64_t vectors = isAligned ? n / 4 : 0;
  const unsigned blocks = blocksFor(isAligned ? (n + 3) / 4 : n);
  const auto kernel = options.momentum == 0 ? sgdKernel<Rule::plain>
                      : options.nesterov    ? sgdKernel<Rule::nesterov>
                                            : sgdKernel<Rule::momentum>;
  return launch(kernel, blocks, stream, parameters, gradients, velocity, vectors, n, k,
                options.keepsFinite ? kept : nullptr);
}

} // namespace syncline::cuda
