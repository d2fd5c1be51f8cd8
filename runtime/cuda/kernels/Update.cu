// The optimizers' kernels, which handle four elements at a time.
#include "runtime/core/UpdateRules.h"
#include "runtime/cuda/kernels/Kernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

namespace syncline::cuda {

namespace {

__global__ void rateKernel(double *rate, double value) {
  if (threadIdx.x == 0)
    *rate = value;
}

__global__ void countUpdateKernel(UpdateClock *clock, double beta1, double beta2) {
  if (threadIdx.x != 0)
    return;
  clock->made += 1;
  clock->correction = core::adamCorrection(beta1, beta2, clock->made);
}

/// `kept` is null where all elements are updated. It is written only where an element is kept,
/// which is rare.
template <typename Rule>
__device__ void updateElement(float &w, float g, float &a, float &b, const Rule &rule,
                              std::int32_t *kept) {
  if (!kept)
    rule(w, g, a, b);
  else if (core::updateFinite(w, g, a, b, rule))
    *kept = 1;
}

/// Updates the first `vectors` · 4 elements four at a time, the rest one at a time. `rounded` is
/// null where weights have no copies.
template <typename Rule>
__global__ void updateKernel(float *w, const float *g, float *a, float *b, std::int64_t vectors,
                             std::int64_t n, Rule rule, const double *rate, double rateFactor,
                             const UpdateClock *clock, const double *factor, std::int32_t *kept,
                             BFloat16 *rounded) {
  if (rate)
    rule.setRate(*rate * rateFactor);
  if (clock)
    rule.correct(clock->correction);
  if (factor)
    rule.k.scale = static_cast<float>(*factor);
  forEachElement(vectors, [&](std::int64_t i) {
    float4 weight = reinterpret_cast<float4 *>(w)[i];
    const float4 gradient = reinterpret_cast<const float4 *>(g)[i];
    float4 first{}, second{};
    if (Rule::slots > 0)
      first = reinterpret_cast<float4 *>(a)[i];
    if (Rule::slots > 1)
      second = reinterpret_cast<float4 *>(b)[i];
    updateElement(weight.x, gradient.x, first.x, second.x, rule, kept);
    updateElement(weight.y, gradient.y, first.y, second.y, rule, kept);
    updateElement(weight.z, gradient.z, first.z, second.z, rule, kept);
    updateElement(weight.w, gradient.w, first.w, second.w, rule, kept);
    reinterpret_cast<float4 *>(w)[i] = weight;
    if (rounded)
      storePack(rounded + 4 * i, Pack<BFloat16, 4>{{BFloat16(weight.x), BFloat16(weight.y),
                                                    BFloat16(weight.z), BFloat16(weight.w)}});
    if (Rule::slots > 0)
      reinterpret_cast<float4 *>(a)[i] = first;
    if (Rule::slots > 1)
      reinterpret_cast<float4 *>(b)[i] = second;
  });
  forEachElement(n - 4 * vectors, [&](std::int64_t rest) {
    const std::int64_t i = 4 * vectors + rest;
    float none = 0;
    updateElement(w[i], g[i], Rule::slots > 0 ? a[i] : none, Rule::slots > 1 ? b[i] : none, rule,
                  kept);
    if (rounded)
      rounded[i] = BFloat16(w[i]);
  });
}

} // namespace

cudaError_t setRate(cudaStream_t stream, double *rate, double value) {
  return launch(rateKernel, 1, stream, rate, value);
}

cudaError_t countUpdate(cudaStream_t stream, UpdateClock *clock, double beta1, double beta2) {
  return launch(countUpdateKernel, 1, stream, clock, beta1, beta2);
}

cudaError_t updateElements(cudaStream_t stream, const UpdateOperands &operands,
                           const core::OptimizerOptions &options, double scale,
                           const UpdateClock *clock, std::int32_t *kept) {
  const std::int64_t n = operands.n;
  if (n == 0)
    return cudaSuccess;
  float *const w = operands.parameters, *const a = operands.state[0], *const b = operands.state[1];
  const float *const g = operands.gradients;
  bool isAligned =
      isAlignedTo(g, sizeof(float4)) && isAlignedTo(operands.rounded, 4 * sizeof(BFloat16));
  for (const float *data : {w, a, b})
    isAligned = isAligned && isAlignedTo(data, sizeof(float4));
  const std::int64_t vectors = isAligned ? n / 4 : 0;
  const unsigned blocks = blocksFor(isAligned ? (n + 3) / 4 : n);
  std::int32_t *const flag = options.keepsFinite ? kept : nullptr;
  return core::withRule(options, scale, [&](auto rule) {
    return launch(updateKernel<decltype(rule)>, blocks, stream, w, g, a, b, vectors, n, rule,
                  operands.rate, operands.rateFactor, clock, operands.factor, flag,
                  operands.rounded);
  });
}

} // namespace syncline::cuda
