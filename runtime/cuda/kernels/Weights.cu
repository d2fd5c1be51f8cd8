// Elementwise kernels for weights that travel. They are bound by memory: neighbouring threads take
// neighbouring elements.
#include "runtime/cuda/kernels/Launch.cuh"
#include "runtime/cuda/kernels/WeightKernels.h"

namespace syncline::cuda {

namespace {

__global__ void subtractKernel(float *to, const float *from, const float *less, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { to[i] = from[i] - less[i]; });
}

__global__ void addKernel(float *to, const float *more, float by, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { to[i] = by * (to[i] + more[i]); });
}

__global__ void scaleKernel(float *values, float by, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { values[i] *= by; });
}

__global__ void outerStepKernel(core::OuterStep rule, float *weights, float *common,
                                float *velocity, const float *sum, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) {
    float none = 0;
    rule(weights[i], common[i], velocity ? velocity[i] : none, sum[i]);
  });
}

__global__ void elasticPullKernel(core::ElasticPull rule, float *weights, float *centre,
                                  const float *own, const float *sum, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { rule(weights[i], centre[i], own[i], sum[i]); });
}

} // namespace

cudaError_t subtractElements(cudaStream_t stream, float *to, const float *from, const float *less,
                             std::int64_t n) {
  return launch(subtractKernel, blocksFor(n), stream, to, from, less, n);
}

cudaError_t addElements(cudaStream_t stream, float *to, const float *more, float by,
                        std::int64_t n) {
  return launch(addKernel, blocksFor(n), stream, to, more, by, n);
}

cudaError_t scaleElements(cudaStream_t stream, float *values, float by, std::int64_t n) {
  return launch(scaleKernel, blocksFor(n), stream, values, by, n);
}

cudaError_t outerStep(cudaStream_t stream, const core::OuterStep &rule, float *weights,
                      float *common, float *velocity, const float *sum, std::int64_t n) {
  return launch(outerStepKernel, blocksFor(n), stream, rule, weights, common, velocity, sum, n);
}

cudaError_t elasticPull(cudaStream_t stream, const core::ElasticPull &rule, float *weights,
                        float *centre, const float *own, const float *sum, std::int64_t n) {
  return launch(elasticPullKernel, blocksFor(n), stream, rule, weights, centre, own, sum, n);
}

} // namespace syncline::cuda
