// Counts: how many floating-point operations an nn operation does and how many bytes it moves.
#pragma once

#include "mlir/IR/Operation.h"

#include <optional>

namespace syncline::cost {

/// Of one execution. Doubles: a large batch of a large layer exceeds no exponent.
struct Counts {
  double flops = 0; ///< a multiply and an add count as two
  double bytes = 0; ///< of all operands and results, once each
};

/// The counts of `op`; nothing for operations that take no time: what holds data (input, target,
/// parameter, state, constant) or only names it (output, loss). Reshapes move nothing.
///
/// Convolutions and matrix products are exact: 2·N·M·positions·(C/groups)·kernel in each of
/// forward, backward by data and backward by weights; 2·batch·rows·columns·inner. Other operations
/// move far more than they compute; their flops are per-element estimates (Counts.cpp).
std::optional<Counts> countsOf(mlir::Operation *op);

/// Of one update: SGD with momentum reads parameter, gradient and velocity, and writes parameter
/// and velocity.
Counts updateCounts(double elements, double bytes);

} // namespace syncline::cost
