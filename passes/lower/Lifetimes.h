// The tensors in the arena, with their lifetimes and places.
#pragma once

#include "passes/lower/Schedule.h"

#include "llvm/ADT/MapVector.h"

#include <string>

namespace syncline::lower {

struct ArenaTensor {
  std::string name;                 ///< unique: layer and role, or the name of the model's output
  std::int64_t first = 0, last = 0; ///< numbers of the first and last action that touch it
  std::int64_t reserve = 0, offset = 0; ///< bytes
  bool isOutput = false;
  bool isRounded = false; ///< stored as bf16
};

struct Arena {
  llvm::MapVector<mlir::Value, ArenaTensor> tensors; ///< in the order in which they are produced
  std::int64_t bytes = 0;
};

/// Bytes that a tensor of this type reserves in the arena, with two bytes an element if it is
/// rounded. It is dense, but from three dimensions on its channels (dimension 1) fill whole blocks
/// of 16, the widest block to which a kernel's own layout pads them.
std::int64_t arenaReserve(mlir::RankedTensorType type, bool isRounded);

/// Whether a kernel skips the result: a backward operation's result that has no reader. Kernels of
/// the forward pass write all results, also where they run again.
bool isSkipped(mlir::OpResult result);

/// Computes lifetimes and places. A tensor lives from the action that produces it to its last
/// reader, the model's output to the end of the forward phase, factors until their message has
/// arrived, and gathered tensors from the gather on. Gathered tensors that the next step waits for
/// live for the whole step, and their factors until the gather, which copies them. A flat pointwise
/// result takes the place of an operand that dies there and reserves as many bytes, since the loop
/// reads element i before it writes it, and if both are rounded or none is. So does a gradient onto
/// which rows are added, of the one that dies there. Only where `rounds` is
/// set, for a step in bf16, are tensors rounded. Fails when no operation computes the output.
mlir::FailureOr<Arena> planArena(nn::StepOp step, const std::vector<Action> &actions,
                                 const std::vector<Bucket> &buckets, bool rounds);

} // namespace syncline::lower
