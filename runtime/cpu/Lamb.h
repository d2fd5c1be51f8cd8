// LAMB's updates of a bucket or of this rank's part of one, in two passes over memory.
#pragma once

#include "runtime/core/ShardedOptimizer.h"
#include "runtime/cpu/Update.h"

#include <span>

namespace syncline::cpu {

/// A parameter, or the part of one that this rank updates.
struct LambPart {
  UpdateOperands operands;
  core::OptimizerOptions options;
  std::size_t place = 0; ///< of the parameter among the bucket's `parameters`
};

/// Updates the parts. Gradients are first multiplied by `scale`. With `sum` a norm is that of a
/// parameter's parts on all ranks, and `sum` is called once; without it parts are whole parameters.
/// Sums of squares on a rank have an order that depends on their number alone. Returns whether
/// options.keepsFinite kept an element. Errors: those of `sum`.
Result<bool> updateByNorms(std::span<const LambPart> parts, double scale,
                           const core::AdamCorrection &correction, std::size_t parameters,
                           const core::SumOverRanks &sum);

} // namespace syncline::cpu
