// CUDA for GPUs.
#pragma once

#include "codegen/step/StepTarget.h"

namespace syncline {

/// step.cu: a kernel a loop, launched into the queue that PointwiseKernel is given; the device code
/// is for sm_80 and sm_90, newer devices compile its PTX. Compiled with $NVCC, or nvcc of the path
/// or of /usr/local/cuda when that is unset.
const StepTarget &cudaTarget();

} // namespace syncline
