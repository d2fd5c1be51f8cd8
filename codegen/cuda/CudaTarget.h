// The target that writes steps in CUDA for GPUs.
#pragma once

#include "codegen/step/StepTarget.h"

namespace syncline::codegen {

/// Writes step.cu: one kernel for each loop, launched into the queue that PointwiseKernel is given.
/// The device code is for sm_80 and sm_90; newer devices compile its PTX. The compiler is $NVCC, or
/// when that is unset nvcc of the path or of /usr/local/cuda.
const StepTarget &cudaTarget();

} // namespace syncline::codegen
