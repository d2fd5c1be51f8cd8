// The optimizer's loop over a bucket's raw interval.
#pragma once

#include "runtime/core/Executable.h"

#include <cstdint>

namespace syncline::cpu {

/// One step of SGD over n elements, whatever their layout: parameters, gradients and velocity share
/// it, and padding stays 0. `scale` multiplies gradients first (1/ranks). velocity may be null when
/// options.momentum is 0. A velocity of zeros gives PyTorch's first step (v = g). With
/// options.keepsFinite says whether an element was kept; otherwise false.
bool sgdUpdate(float *parameters, const float *gradients, float *velocity, std::int64_t n,
               const SgdOptions &options, double scale);

} // namespace syncline::cpu
