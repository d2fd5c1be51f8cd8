// The rewrite behind the scheme `factors`: gather what a gradient is made from, then make it.
#pragma once

#include "passes/merge/Factors.h"

#include "mlir/IR/Builders.h"

namespace syncline {

/// A solution's message by factors.
struct FactorMessage {
  sync::GradientOp carrier;                       ///< the gradient whose factors travel
  llvm::SmallVector<sync::GradientOp> piggybacks; ///< those that are reconstructed from them too
  std::int64_t number = 0;                        ///< of the message
  double ready = 0, start = 0, end = 0;           ///< seconds from the step's beginning
};

/// Puts a `sync.all_gather` and, behind it, the product and sums over all `ranks`' samples at the
/// builder's place, in place of the message's gradients, which are erased with every operation that
/// only they needed. Fails, and changes nothing, where the carrier has no factors or a piggyback is
/// no sum of them.
mlir::LogicalResult gatherFactors(mlir::OpBuilder &builder, const FactorMessage &message,
                                  std::int64_t ranks);

} // namespace syncline
