// Repeats operations of the forward pass in the backward pass, so that results need not be kept.
#pragma once

#include "passes/recompute/Blocks.h"

#include <cstdint>

namespace syncline::recompute {

struct Repeated {
  std::int64_t operations = 0;
  double seconds = 0; ///< that the repeated operations take, by their `nn.seconds`
};

/// Repeats what the backward pass reads of the blocks, each operation right in front of the first
/// operation that needs it and at most once. From then on the backward pass reads the repetition,
/// so that the first result lives no longer than the forward pass needs it. An operation is kept,
/// with all of its results, where
///   1. the forward pass reads one of them outside of the operation's block,
///   2. it computes the loss, whose gradient nothing but the backward pass reads, or
///   3. the block is light and the operation is a convolution or a product.
/// A repetition has the operands, attributes and layer of the first computation, hence its bits
/// and, where it is a dropout, its mask; it carries `nn.backward` and `nn.recomputed`. A repeated
/// batch_norm leaves the running statistics as they are: its momentum is 0.
Repeated repeatForward(nn::StepOp step, llvm::ArrayRef<Block> blocks);

} // namespace syncline::recompute
