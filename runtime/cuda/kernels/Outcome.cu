// Noting what a step has found.
#include "runtime/cuda/kernels/Launch.cuh"
#include "runtime/cuda/kernels/OutcomeKernels.h"

namespace syncline::cuda {

namespace {

__global__ void outcomeKernel(const float *loss, std::int32_t *kept, const double *norm,
                              NotedOutcome *noted) {
  if (blockIdx.x != 0 || threadIdx.x != 0)
    return;
  noted->loss = *loss;
  noted->kept = *kept;
  if (norm)
    noted->gradientNorm = *norm;
  if (noted->kept != 0)
    *kept = 0;
}

} // namespace

cudaError_t noteOutcome(cudaStream_t stream, const float *loss, std::int32_t *kept,
                        const double *norm, NotedOutcome *noted) {
  return launch(outcomeKernel, 1, stream, loss, kept, norm, noted);
}

} // namespace syncline::cuda
