// Which elementwise operations become one loop.
#pragma once

#include "ir/nn/NN.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace syncline {

/// Elementwise operations that become one `nn.pointwise`, in program order; it takes the place of
/// the last.
struct PointwiseGroup {
  llvm::SmallVector<mlir::Operation *> members;

  /// What the loop reads from memory: operands made outside, in order of first use, without those
  /// that are constants of one value.
  llvm::SmallVector<mlir::Value> inputs() const;
  /// What it writes: results that are used outside.
  llvm::SmallVector<mlir::Value> outputs() const;
  /// The common shape of all results.
  mlir::ArrayRef<std::int64_t> shape() const;
  /// Do all inputs have the loop's shape? Then any memory layout common to all will do.
  bool isFlat() const;
};

/// The constant that every element of `value` has, when it is an 'nn.constant' of one value.
mlir::FloatAttr splatValue(mlir::Value value);

/// Groups a step's elementwise operations so that each tensor is read and written by few loops.
///
/// Walks in program order. A group is moved down to a later operation and joins it when one reads
/// the other's result, or both read the same tensor, and
///   1. nothing in between, outside the group, reads what the group makes, so that order is kept;
///   2. no update or synchronisation reads it either, so that no gradient is ready later;
///   3. both belong to the forward pass, or both to the backward pass, and have one shape;
///   4. a flat group does not become part of one that broadcasts if more big tensors would then
///   have
///      to be in plain layout: one broadcast operand makes a whole loop walk plain, row-major
///      memory. (Tensors of rank 2 or less are plain anyway.)
///   5. the loop reads no more than `maxInputs` tensors: beyond, hardware prefetchers lose track;
///   6. it has no more than `maxMembers` operations: what a C++ compiler takes for a loop grows
///      faster than the loop.
/// Of those that read the same tensor, the last `maxReaders` before an operation are tried. Greedy,
/// not optimal: the number of loops is not minimised over all choices. Groups are ordered by their
/// last members. The time is linear in operations and uses: the bounds limit what each operation
/// is tried with, and `attempts`, where given, counts these.
std::vector<PointwiseGroup> groupPointwise(nn::StepOp step, std::size_t *attempts = nullptr);

inline constexpr std::size_t maxInputs = 12, maxMembers = 32, maxReaders = 64;

} // namespace syncline
