// The optimizer's loop over a bucket's raw interval.
#pragma once

#include "runtime/core/Adam.h"

#include <array>
#include <cstdint>

namespace syncline::cpu {

/// What one update works on. Parameters, gradients and state have one common layout of any kind,
/// whose padding stays 0. State of zeros gives PyTorch's first step.
struct UpdateOperands {
  float *parameters = nullptr;
  const float *gradients = nullptr;
  std::array<float *, 2> state{}; ///< by slot; null where options.slots() has none
  std::int64_t n = 0;
};

/// One update of n elements, in one pass over memory. Gradients are first multiplied by `scale`
/// (1/ranks). SGD ignores the correction. LAMB has two passes (Lamb.h). Returns whether
/// options.keepsFinite kept an element.
bool updateElements(const UpdateOperands &operands, const core::OptimizerOptions &options,
                    double scale, const core::AdamCorrection &correction);

} // namespace syncline::cpu
