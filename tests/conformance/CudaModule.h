// What the suite needs to judge the CUDA backend.
#pragma once

#include "tests/conformance/Backends.h"

namespace syncline::conformance {

/// The loops of PointwiseLoops.h as kernels.
PointwiseKernels cudaKernels();

} // namespace syncline::conformance
