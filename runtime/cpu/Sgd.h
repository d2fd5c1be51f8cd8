// The optimizer's loop over a bucket's raw interval.
#pragma once

#include "runtime/core/Executable.h"

#include <cstdint>

namespace syncline::cpu {

/// One step of SGD over n elements. Parameters, gradients and velocity have one common layout of
/// any kind, whose padding stays 0. Gradients are first multiplied by `scale` (1/ranks). `velocity`
/// may be null when options.momentum is 0; a velocity of zeros gives PyTorch's first step (v = g).
/// Returns whether an element was kept for options.keepsFinite.
bool sgdUpdate(float *parameters, const float *gradients, float *velocity, std::int64_t n,
               const core::SgdOptions &options, double scale);

} // namespace syncline::cpu
