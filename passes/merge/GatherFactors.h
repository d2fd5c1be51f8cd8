// The rewrite of the schemes `factors` and `sparse`: gather a gradient's factors, or an embedding's
// rows with their numbers, then compute the gradient.
#pragma once

#include "passes/merge/Factors.h"

#include "mlir/IR/Builders.h"

namespace syncline::merge {

/// A message of the solution that sends factors.
struct FactorMessage {
  cluster::Scheme scheme = cluster::Scheme::factors;
  sync::GradientOp carrier = {};                  ///< the gradient whose factors travel
  llvm::SmallVector<sync::GradientOp> piggybacks; ///< gradients reconstructed from the carrier's
                                                  ///< factors too
  std::int64_t number = 0, channel = 0;           ///< of the message
};

/// Replaces the message's gradients: puts a `sync.all_gather` at the builder's place, and behind it
/// the product and sums over all `ranks`' samples. Erases the gradients with every operation that
/// only they needed. Fails, and changes nothing, where the carrier has no factors for the
/// scheme or a piggyback is no sum of them.
mlir::LogicalResult gatherFactors(mlir::OpBuilder &builder, const FactorMessage &message,
                                  std::int64_t ranks);

} // namespace syncline::merge
