// Blocks: which operations of the forward pass are computed again in the backward pass.
#pragma once

#include "ir/nn/NN.h"
#include "syncline/Status.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace syncline::recompute {

/// What of a block is computed again.
enum class Extent {
  light, ///< all that is not heavy: most of the bytes, for little of the time
  full,  ///< all
};

/// Operations of the forward pass, in program order. What other blocks or operations outside of all
/// blocks read in the forward pass is kept: it is the checkpoint. All other results of the block
/// are computed again, where the backward pass reads them.
struct Block {
  std::string name; ///< for people
  llvm::SmallVector<mlir::Operation *> ops;
  Extent extent = Extent::full;
};

/// The blocks that `globs` name, ordered by their first operations. A glob is matched with the
/// beginnings of an operation's layer that end in front of a '/', the shortest first, then with the
/// whole name; layers without '/' end in front of a '.'. Operations whose matching beginnings are
/// equal form a block. A '/*' at a glob's end is left out, and so is a '.*' where the glob has no
/// '/': 'h.3.*' is the block 'h.3'. Where several globs match an operation, the first counts.
/// Returns badInput for what is no glob, and for a glob that matches no layer.
Result<std::vector<Block>> blocksNamed(nn::StepOp step, llvm::ArrayRef<std::string> globs);

/// Whether the operation is one of those that take most of the time: a convolution, or a product
/// other than attention's scores.
bool isHeavy(mlir::Operation *op);

/// Whether the operation belongs to the forward pass and computes something, so that it can be
/// computed again.
bool isForward(mlir::Operation *op);

} // namespace syncline::recompute
