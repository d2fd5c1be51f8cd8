// Kernels for weights that travel. As in Kernels.h, functions launch on a stream, take device
// pointers and do not wait. All arrays have n elements and do not overlap.
#pragma once

#include "runtime/core/WeightRules.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

/// to = from - less
cudaError_t subtractElements(cudaStream_t stream, float *to, const float *from, const float *less,
                             std::int64_t n);
/// to = by · (to + more)
cudaError_t addElements(cudaStream_t stream, float *to, const float *more, float by,
                        std::int64_t n);
/// values = by · values
cudaError_t scaleElements(cudaStream_t stream, float *values, float by, std::int64_t n);
/// `velocity` may be null where the rule has no momentum.
cudaError_t outerStep(cudaStream_t stream, const core::OuterStep &rule, float *weights,
                      float *common, float *velocity, const float *sum, std::int64_t n);
cudaError_t elasticPull(cudaStream_t stream, const core::ElasticPull &rule, float *weights,
                        float *centre, const float *own, const float *sum, std::int64_t n);

} // namespace syncline::cuda
