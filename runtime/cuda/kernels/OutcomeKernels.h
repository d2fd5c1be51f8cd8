// The kernel that notes what a step has found. As in Kernels.h, functions launch on a stream and do
// not wait.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

/// What a step leaves in memory of the host that the device can read and write.
struct NotedOutcome {
  double gradientNorm = 0;
  float loss = 0;
  std::int32_t kept = 0; ///< not 0 where an update has kept an element
};

/// Copies the step's loss, flag and norm to *noted, and clears the flag. `norm` may be null.
cudaError_t noteOutcome(cudaStream_t stream, const float *loss, std::int32_t *kept,
                        const double *norm, NotedOutcome *noted);

} // namespace syncline::cuda
