// Counts: floating-point operations of an nn operation, and the bytes that it moves.
#pragma once

#include "syncline/OptimizerKind.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace syncline::cost {

/// The counts of one execution. They are doubles, since those of a large batch may exceed 64 bits.
struct Counts {
  double flops = 0; ///< a multiply and an add count as two
  double bytes = 0; ///< bytes of all operands and results, once each
};

/// The counts of `op`. Nothing for operations that take no time, which hold data (input, target,
/// parameter, state, constant) or name it (output, loss). Reshapes move no bytes.
///
/// Convolutions and matrix products are exact: 2·N·M·positions·(C/groups)·kernel in each of
/// forward, backward by data and backward by weights; 2·batch·rows·columns·inner. Other operations
/// move far more than they compute; their flops are per-element estimates (Counts.cpp).
std::optional<Counts> countsOf(mlir::Operation *op);

/// The counts of one update. SGD with momentum reads parameter, gradient and velocity, and writes
/// parameter and velocity. Adam reads and writes another moment. LAMB reads parameter and moments
/// again in a second pass.
Counts updateCounts(double elements, double bytes, OptimizerKind kind);

/// How long it takes to read a gradient once, as a part of its update's time: the part that it has
/// of the bytes which the update moves. The squares of a norm take as long.
double readingShare(OptimizerKind kind);

/// How long it takes to add a gradient to a sum, as a part of its update's time: that reads two and
/// writes one.
double addingShare(OptimizerKind kind);

} // namespace syncline::cost
