// Which tensors live in the arena, from when to when, and where.
#pragma once

#include "passes/lower/Schedule.h"

#include "llvm/ADT/MapVector.h"

#include <string>

namespace syncline::lower {

struct ArenaTensor {
  std::string name;                 ///< unique: layer and role, or the model's name of its output
  std::int64_t first = 0, last = 0; ///< numbers of the first and last action that touch it
  std::int64_t reserve = 0, offset = 0;
  bool isOutput = false;
};

struct Arena {
  llvm::MapVector<mlir::Value, ArenaTensor> tensors; ///< in order of production
  std::int64_t bytes = 0;
};

/// Bytes that a tensor of this type reserves in the arena: dense, but with channels (dimension 1)
/// in whole blocks of 16 from three dimensions on, which is the widest a kernel's own layout pads
/// them to.
std::int64_t arenaReserve(mlir::RankedTensorType type);

/// Whether all operands have the results' shape, so that one loop over any common layout will do.
bool isFlat(nn::PointwiseOp op);

/// Results that a kernel skips when nobody reads them: a backward operation's.
bool isSkipped(mlir::OpResult result);

/// Lifetimes run from the producing action to the last reader; the model's output stays to the end
/// of the forward phase, factors until their message has arrived, what they are gathered into from
/// the gather on. A flat pointwise result takes the place of an operand that dies there and
/// reserves as much: element i is read before it is written. Fails when the output is computed by
/// no operation.
mlir::FailureOr<Arena> planArena(nn::StepOp step, const std::vector<Action> &actions,
                                 const std::vector<Bucket> &buckets);

} // namespace syncline::lower
