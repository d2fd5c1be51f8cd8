// Decides which elementwise operations become one loop.
#pragma once

#include "ir/nn/NN.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace syncline::fuse {

/// Elementwise operations, in program order, that become one `nn.pointwise` in the place of
/// the last.
struct PointwiseGroup {
  llvm::SmallVector<mlir::Operation *> members;

  /// The values that the loop reads from memory: operands made outside of it, in order of first
  /// use, without constants of one value.
  llvm::SmallVector<mlir::Value> inputs() const;
  /// The values that the loop writes: results that are used outside of it.
  llvm::SmallVector<mlir::Value> outputs() const;
  /// The common shape of all results.
  mlir::ArrayRef<std::int64_t> shape() const;
  /// Whether all inputs have the loop's shape. Any memory layout that they share then serves
  /// the loop.
  bool isFlat() const;
};

/// The value of every element of `value`, when it is an `nn.constant` of one value; null otherwise.
mlir::FloatAttr splatValue(mlir::Value value);

/// Groups a step's elementwise operations so that few loops read and write each tensor.
///
/// The algorithm walks in program order. It moves a group down to a later operation and joins the
/// two when one reads the other's result, or both read the same tensor, and
///   1. nothing in between, outside the group, reads what the group makes, so that order is kept;
///   2. no update or synchronisation reads it either, so that no gradient is ready later;
///   3. both belong to the forward pass, or both to the backward pass, and have one shape;
///   4. a flat group does not become part of a group that broadcasts if more big tensors would
///      then need plain layout: one broadcast operand makes a whole loop walk plain, row-major
///      memory (tensors of rank 2 or less are plain anyway);
///   5. the loop reads at most `maxInputs` tensors: hardware prefetchers lose track of more;
///   6. the loop has at most `maxMembers` operations: a C++ compiler's time grows faster than the
///      loop.
/// An operation tries to join the last `maxReaders` operations before it that read the same tensor.
/// The algorithm is greedy and does not minimise the number of loops over all choices. Groups are
/// ordered by their last members. Time is linear in operations and uses, since the limits bound the
/// attempts per operation; `attempts`, where given, counts them.
std::vector<PointwiseGroup> groupPointwise(nn::StepOp step, std::size_t *attempts = nullptr);

inline constexpr std::size_t maxInputs = 12, maxMembers = 32, maxReaders = 64;

} // namespace syncline::fuse
